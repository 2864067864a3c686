//! Functions that do not block: `tgm_async_*`, tokens and the runtime.
//!
//! A launch checks its arguments, copies what it needs, and starts work on threads of the library. The caller has a
//! task: it ends once, with a value or an error, and everyone who waits for it learns of that.
//!
//! ```text
//! launch ──► work on the runtime, or in the queue of an encoder ──► settle ◄── token, task_cancel, time, shutdown
//!                                                                     │
//!                                         the first one counts        ├──► joins wake up
//!                                                                     └──► the callback, on a thread of the pool
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `task` | a task and its state; tasks that are cancelled together |
//! | `pool` | the threads that run callbacks |
//! | `engine` | the threads, and the list of tasks that run |
//! | `launch` | the parameters that all launches have |
//! | `runtime`, `token`, `joins` | functions about these |
//! | `files`, `remote` | functions of files |
//! | `queue`, `encoder` | messages that are written object by object |

mod encoder;
mod engine;
mod files;
mod joins;
mod launch;
mod pool;
mod queue;
mod remote;
mod runtime;
mod task;
mod token;

#[cfg(test)]
mod tests;
