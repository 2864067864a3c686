//! Sockets and connections.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime::Builder;
use tokio::sync::Semaphore;

use crate::commands::serve::routes::Service;

/// Connections at a time. Others wait.
const CONNECTIONS: usize = 512;
/// A connection that begins no request for so long is closed.
const IDLE: Duration = Duration::from_mins(1);
/// After an error such as "too many open files" the next connection is awaited so much later.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers until the program is ended.
///
/// # Errors
/// The errors of starting.
pub(super) fn forever(listener: TcpListener, service: Service) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (service, free) = (Arc::new(service), Arc::new(Semaphore::new(CONNECTIONS)));
        loop {
            let permit = Arc::clone(&free).acquire_owned().await.map_err(io::Error::other)?;
            let Ok((socket, _)) = listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let service = Arc::clone(&service);
            tokio::spawn(async move {
                let answer = |request: hyper::Request<Incoming>| {
                    let service = Arc::clone(&service);
                    async move { Ok::<_, Infallible>(service.answer(request).await) }
                };
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(IDLE)
                    .serve_connection(TokioIo::new(socket), service_fn(answer));
                // A reader that goes away, or sends what is not HTTP, is nobody else's matter.
                let _ = connection.await;
                drop(permit);
            });
        }
    })
}
