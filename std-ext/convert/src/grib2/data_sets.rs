//! Data sets that several centres make together: TIGGE, S2S and others. Production statuses (code table 1.3) tell them apart.
//!
//! Each has numbers of its own in section 2, in front of the number of the definition:
//!
//! | data set | version | octets from 6 on: version (2), then |
//! |---|---|---|
//! | TIGGE | 1 | suite (2) |
//! | UERRA | 1 | version of the experiment (4) |
//! | CARRA and CERRA | 1, 2, 3 | suite (2); for 3 and other centres than ECMWF, class (2); for 2 and 3, version of the experiment (4) |
//! | Destination Earth | 1, 2 | twin (2), what the twin has; for 2, scheme of tiles (2) |
//! | LC-GCR, WPMIP | 1 | |
//! | S2S | | no version either |

use super::error::GribError;
use super::sections::{HEAD_LEN, Section};

/// Which data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataSet {
    Tigge,
    S2s,
    Uerra,
    /// CARRA and CERRA, the regional reanalyses of Copernicus.
    Regional,
    DestinationEarth,
    /// LC-GCR, the WMO's collection of global reanalyses.
    Reanalyses,
    /// WPMIP, which compares models.
    Intercomparison,
}

impl DataSet {
    /// The data set of a production status, and whether the status is the one of tests.
    pub(super) const fn of(status: u8) -> Option<(Self, bool)> {
        let data_set = match status {
            4 | 5 => Self::Tigge,
            6 | 7 => Self::S2s,
            8 | 9 => Self::Uerra,
            10 | 11 => Self::Regional,
            12 | 13 => Self::DestinationEarth,
            14 | 15 => Self::Reanalyses,
            16 | 17 => Self::Intercomparison,
            _ => return None,
        };
        Some((data_set, status % 2 == 1))
    }
}

/// What a twin of Destination Earth has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twin {
    /// Activity, experiment, generation, model, realization and resolution.
    Climate([u16; 6]),
    /// A place, as eight letters.
    Place([u8; 8]),
    Other,
}

/// The numbers in front of the number of the definition. Numbers that the data set does not have are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) version: u16,
    pub(super) suite: Option<u16>,
    pub(super) class: Option<u16>,
    /// The version of the experiment.
    pub(super) experiment: Option<[u8; 4]>,
    pub(super) twin: Option<(u16, Twin)>,
    pub(super) tiles: Option<u16>,
    /// The octet after them.
    pub(super) end: usize,
}

/// Reads one number after the other.
struct Cursor<'a> {
    section: Section<'a>,
    octet: usize,
}

impl Cursor<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], GribError> {
        let found = self.section.array(self.octet)?;
        self.octet += N;
        Ok(found)
    }

    fn u16(&mut self) -> Result<u16, GribError> {
        self.array().map(u16::from_be_bytes)
    }

    fn u8(&mut self) -> Result<u16, GribError> {
        self.array().map(|[number]: [u8; 1]| number.into())
    }
}

impl Prefix {
    /// The octet where numbers begin.
    const FIRST_OCTET: usize = HEAD_LEN + 1;

    /// Reads it for the data set of a status. `None` for other statuses, where there is no section 2, where it is empty, and for
    /// versions that are not known. `is_ecmwf` says whether ECMWF made the field.
    ///
    /// # Errors
    /// [`super::GribErrorKind::ShortSection`].
    pub(super) fn of(section: Option<Section<'_>>, status: u8, is_ecmwf: bool) -> Result<Option<Self>, GribError> {
        let section = section.filter(|section| section.as_bytes().len() > HEAD_LEN);
        let (Some(section), Some((data_set, _))) = (section, DataSet::of(status)) else { return Ok(None) };
        let mut cursor = Cursor { section, octet: Self::FIRST_OCTET };
        let version = if data_set == DataSet::S2s { 0 } else { cursor.u16()? };
        let mut found =
            Self { version, suite: None, class: None, experiment: None, twin: None, tiles: None, end: cursor.octet };
        match (data_set, version) {
            (DataSet::S2s, _) | (DataSet::Reanalyses | DataSet::Intercomparison, 1) => {}
            (DataSet::Tigge, 1) => found.suite = Some(cursor.u16()?),
            (DataSet::Uerra, 1) => found.experiment = Some(cursor.array()?),
            (DataSet::Regional, 1..=3) => {
                found.suite = Some(cursor.u16()?);
                if version == 3 && !is_ecmwf {
                    found.class = Some(cursor.u16()?);
                }
                found.experiment = if version > 1 { Some(cursor.array()?) } else { None };
            }
            (DataSet::DestinationEarth, 1 | 2) => {
                let twin = cursor.u16()?;
                found.twin = Some((twin, Twin::read(twin, &mut cursor)?));
                found.tiles = if version == 2 { Some(cursor.u16()?) } else { None };
            }
            _ => return Ok(None),
        }
        Ok(Some(Self { end: cursor.octet, ..found }))
    }

    /// The generation of a climate of Destination Earth.
    pub(super) const fn generation(&self) -> Option<u16> {
        match self.twin {
            Some((_, Twin::Climate([_, _, generation, ..]))) => Some(generation),
            _ => None,
        }
    }
}

impl Twin {
    fn read(code: u16, cursor: &mut Cursor<'_>) -> Result<Self, GribError> {
        Ok(match code {
            1 => {
                let (activity, experiment, generation) = (cursor.u16()?, cursor.u16()?, cursor.u8()?);
                Self::Climate([activity, experiment, generation, cursor.u16()?, cursor.u8()?, cursor.u16()?])
            }
            4 => Self::Place(cursor.array()?),
            _ => Self::Other,
        })
    }
}
