//! The services that handlers take from the state of their router.

/// `services! { App: name: Type; … }` lets handlers take these fields of the state `App` with axum's `State`.
#[macro_export]
macro_rules! services {
    ($App:ty: $($service:ident: $Service:ty;)+) => { $(
        impl ::axum::extract::FromRef<$App> for $Service {
            fn from_ref(app: &$App) -> Self {
                app.$service.clone()
            }
        }
    )+ };
}
