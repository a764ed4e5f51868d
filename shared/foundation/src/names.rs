//! The names of the values of enums.

/// Gives each value of an enum a name, under which it is stored, sent and read:
/// `names!(Enum: Value = "name", …)` defines `ALL`, `named` and `as_str`.
#[macro_export]
macro_rules! names {
    ($type:ident: $($value:ident $(($part:path))? = $name:literal),+ $(,)?) => {
        impl $type {
            /// All values.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value $(($part))?),+];

            /// Returns the value with this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == name)
            }

            /// Returns the name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value $(($part))? => $name,)+
                }
            }
        }
    };
}
