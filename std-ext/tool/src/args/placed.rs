//! The destination of commands that take it as their last argument, or as a flag like all others.

use clap::Args;

use crate::write::destination::Destination;

/// A destination, given in one of two ways.
#[derive(Args, Clone, Debug)]
pub(crate) struct Placed {
    /// Where to write; appears when it is complete; "-" is standard output
    #[arg(value_name = "OUT", required_unless_present = "output")]
    place: Option<Destination>,
    /// The same as OUT
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT", conflicts_with = "place")]
    output: Option<Destination>,
}

impl Placed {
    /// The destination.
    pub(crate) fn get(&self) -> &Destination {
        // The command line has one of them.
        self.output.as_ref().or(self.place.as_ref()).unwrap_or(&Destination::Stdout)
    }
}
