//! `tgm serve`: files, their catalogues and their datasets by HTTP, to programs of this machine.
//!
//! | file | subject |
//! |---|---|
//! | [`routes`] | which address has what |
//! | [`gate`] | who is answered: the names of this machine, and those who know the token |
//! | [`shelf`] | the files that are served, by their names |
//! | [`site`] | the files of the page |
//! | [`stores`] | their datasets as stores of Zarr, and the chunks that were decoded |
//! | [`cache`] | bytes by keys, up to a budget |
//! | [`reply`] | an answer: conditions, ranges, headers |
//! | [`range`] | ranges of bytes and tags, as RFC 9110 has them |
//! | [`body`] | the bytes of an answer, from memory or from a file |
//! | [`listen`] | sockets and connections |

mod body;
mod cache;
mod gate;
mod listen;
mod range;
mod reply;
mod routes;
mod shelf;
mod site;
mod stores;

use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use tgm_dataset::OpenOptions;

use crate::args::RARE;
use crate::args::cube::OpenFlags;
use crate::args::decoding::Decoding;
use crate::args::limits::size;
use crate::commands::serve::gate::{Gate, Origins};
use crate::commands::serve::routes::{Server, Service};
use crate::commands::serve::shelf::Shelf;
use crate::commands::serve::stores::Stores;
use crate::commands::{Run, examples};
use crate::show::output::Out;
use crate::show::text::{counted, hex};

/// Serve files by HTTP to programs of this machine, and each dataset as a store of Zarr
///
/// Prints an address with a token, and answers until it is interrupted. Files are read by ranges. `xarray.open_zarr(ADDRESS +
/// "zarr/NAME")` reads a file as a dataset, and the programs that know Zarr by HTTP do so too: chunks are decoded when they are asked
/// for. Only the files that are there at the start are served, and nothing can be written.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm serve field.tgm three.tgm", "an address for browsers, xarray.open_zarr and others")]))]
pub(crate) struct Serve {
    /// Files to serve, and folders: of these all .tgm files
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// The port [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// The address of this machine to listen at. One that other machines reach needs --token
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// The secret word of the address, of 16 or more letters and digits [default: a random one]
    #[arg(long, value_name = "WORD", env = "TGM_SERVE_TOKEN", hide_env_values = true, value_parser = token)]
    token: Option<String>,
    /// Pages of this origin may read what is served, such as <https://example.org>; "*" stands for all pages
    #[arg(long, help_heading = RARE, value_name = "ORIGIN")]
    allow_origin: Option<Origins>,
    /// Bytes of decoded chunks that are kept for the next reader
    #[arg(long, help_heading = RARE, value_name = "SIZE", default_value = "256M", value_parser = size)]
    cache: u64,
    /// Open the address in a browser
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    dataset: OpenFlags,
    #[command(flatten)]
    decoding: Decoding,
}

impl Run for Serve {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        if !self.host.is_loopback() && self.token.is_none() {
            out.problem(&format!(
                "{}: other machines reach this address, so the token is yours to choose: --token WORD, or the variable \
                 TGM_SERVE_TOKEN",
                self.host
            ));
            return Ok(());
        }
        let options = match self.dataset.options() {
            Ok(options) => options,
            Err(error) => {
                out.report("--grid", &error);
                return Ok(());
            }
        };
        let (files, passed_over) = Shelf::of(&self.paths, out);
        for path in passed_over {
            out.remark(&format!("note: {path} is not served: it leads out of its folder"));
        }
        // What is wrong with one of the files was reported.
        if files.is_empty() || out.problem_count() > 0 {
            if out.problem_count() == 0 {
                out.problem("there is no .tgm file to serve");
            }
            return Ok(());
        }
        if let Err(error) = self.serve(files, options, out) {
            out.problem(&format!("cannot serve at {}\n{error}", self.host));
        }
        Ok(())
    }
}

impl Serve {
    fn serve(&self, files: Shelf, options: OpenOptions, out: &mut Out) -> io::Result<()> {
        let token = self.token.clone().map_or_else(random_token, Ok)?;
        let listener = TcpListener::bind((self.host, self.port))?;
        let address = format!("http://{}/{token}/", listener.local_addr()?);
        out.answer(&address)?;
        out.remark(&format!("{}; Ctrl-C ends it", counted(files.len() as u64, "file")));
        if self.open && !open_browser(&address) {
            out.remark("note: no browser could be started");
        }
        let stores = Stores::new(options, self.decoding.of_boxes(), self.cache);
        let gate = Gate::new(token, self.allow_origin.clone());
        listen::forever(listener, Service::new(Server { files, stores, gate }))
    }
}

/// A token that nobody can guess: 128 bits of the system.
fn random_token() -> io::Result<String> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(hex(&random))
}

/// Reads a token: a word that stands in an address as it is.
fn token(text: &str) -> Result<String, &'static str> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let expected = "expected 16 or more of the letters a-z, A-Z, 0-9, - and _";
    if text.len() >= 16 && is_plain { Ok(text.to_string()) } else { Err(expected) }
}

/// Whether a browser was started.
fn open_browser(address: &str) -> bool {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut command = Command::new(program);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
}
