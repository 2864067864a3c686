#![doc = include_str!("../README.md")]
//!
//! Pictures of values: maps with coastlines, fields, lines and histograms, with title, ticks and colour bar.
//!
//! [`Look::picture`](drawing::Look::picture) makes a [`Picture`](picture::Picture) of values. [`chart::draw`] draws it as
//! [`Png`](png::Png) or [`Svg`](svg::Svg). [`Picked`](described::Picked) says where the values of a dataset are on the globe, and
//! [`raster`] makes rows and columns of any points. Nothing here reads files, has threads or knows a terminal: the tool `tgm plot`
//! and the page of `tgm serve` draw by it.
//!
//! # Layers
//! A module imports only from rows below its own.
//!
//! | layer | what it knows |
//! |---|---|
//! | `drawing` | values become a picture |
//! | `pixels`, `wind` | fields as pixels alone; winds as arrows |
//! | `chart`, `png`, `projected` | whole pictures, drawn; pictures of pixels; fields in other projections |
//! | `caption`, `indexed`, `layout`, `svg` | which values are drawn, in words; pixels of few colours; places of the parts; pictures of vectors |
//! | `canvas`, `described` | what is drawn: areas, lines, texts; values of a dataset with their places |
//! | `coast`, `picture` | coastlines; what a picture shows |
//! | `map`, `raster`, `table` | maps; rows and columns of any points; rows and columns with labels |
//! | `arrow`, `axis`, `contour`, `nearest` | arrows, axes, lines of equal value, the nearest of points |
//! | `bounds`, `field`, `letters`, `lines`, `palette`, `projection`, `signed`, `ticks`, `tree`, `units`, `vertical` | edges of maps, rows of values, letters, lines, colours, projections, quantities around 0, round numbers, a tree of points, units, levels |

pub mod arrow;
pub mod axis;
pub mod bounds;
pub mod canvas;
pub mod caption;
pub mod chart;
pub mod coast;
pub mod contour;
pub mod described;
pub mod drawing;
pub mod field;
mod indexed;
pub mod layout;
pub mod letters;
pub mod lines;
pub mod map;
pub mod nearest;
pub mod palette;
pub mod picture;
pub mod pixels;
pub mod png;
mod projected;
pub mod projection;
pub mod raster;
mod signed;
pub mod svg;
mod table;
pub mod ticks;
mod tree;
mod units;
mod vertical;
pub mod wind;
