//! The state of a server's router: its services behind one `Arc`.

/// `services! { App(Services): name: Type; … }` completes `struct App(Arc<Services>)`: `App::new` takes the
/// services, `App` derefs to them, and handlers take each listed field with axum's `State`.
#[macro_export]
macro_rules! services {
    ($App:ident($Services:ty): $($service:ident: $Service:ty;)+) => {
        impl $App {
            pub(crate) fn new(services: $Services) -> Self {
                Self(::std::sync::Arc::new(services))
            }
        }

        impl ::std::ops::Deref for $App {
            type Target = $Services;

            fn deref(&self) -> &$Services {
                &self.0
            }
        }

        $(
            impl ::axum::extract::FromRef<$App> for $Service {
                fn from_ref(app: &$App) -> Self {
                    app.$service.clone()
                }
            }
        )+
    };
}
