//! Hashes passwords on all cores with Latchkey's default parameters. `argon2id SECONDS` prints the number of
//! hashes.
#![forbid(unsafe_code)]

use argon2::{Algorithm, Argon2, Block, Params, Version};
use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args()
        .nth(1)
        .ok_or("the number of seconds is missing")?;
    let end = Instant::now() + Duration::from_secs(seconds.parse()?);
    let cores = thread::available_parallelism()?.get();
    let threads: Vec<_> = (0..cores)
        .map(|_| thread::spawn(move || hash_until(end)))
        .collect();
    let mut count = 0;
    for thread in threads {
        count += thread.join().map_err(|_| "a thread panicked")??;
    }
    println!("{count}");
    Ok(())
}

/// Hashes with one block of memory, as long as there is time. Returns the number of hashes.
fn hash_until(end: Instant) -> Result<u64, argon2::Error> {
    let params = Params::new(19 * 1024, 2, 1, None)?;
    let mut memory = vec![Block::default(); params.block_count()];
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut count = 0;
    while Instant::now() < end {
        argon2.hash_password_into_with_memory(b"password", b"0123456789abcdef", &mut [0; 32], &mut memory)?;
        count += 1;
    }
    Ok(count)
}
