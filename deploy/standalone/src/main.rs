//! The program `latchkey`. The library of this package holds its code, so that a test can run it with an
//! allocator that counts.

use std::process::ExitCode;

fn main() -> ExitCode {
    latchkey::main()
}
