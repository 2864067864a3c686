//! The numbers of section 3 under the manual's words.

use super::{GridSection, scanning_mode};
use crate::error::GridError;
use crate::octets::Octets;

impl GridSection<'_> {
    /// Its numbers under the manual's words: the template, the number of points, and for the templates that
    /// [`Self::coordinates`] knows the others. Numbers that the manual calls missing are left out.
    ///
    /// # Errors
    /// [`GridError::ShortSection`].
    pub fn numbers(&self) -> Result<Vec<(&'static str, i64)>, GridError> {
        let template = self.template()?;
        let mut found =
            vec![("gridDefinitionTemplateNumber", template.into()), ("numberOfDataPoints", self.point_count()?.into())];
        let Some(mode) = scanning_mode(template) else { return Ok(found) };
        let is_plane = matches!(template, 20 | 30);
        let [columns, rows] = if is_plane { ["Nx", "Ny"] } else { ["Ni", "Nj"] };
        let mut unsigned = |key, octet| {
            found.extend(
                Some(self.u32(octet)?).filter(|number| *number != Octets::MISSING).map(|number| (key, number.into())),
            );
            Ok::<_, GridError>(())
        };
        unsigned(columns, 31)?;
        unsigned(rows, 35)?;
        if is_plane {
            unsigned("Dx", 56)?;
            unsigned("Dy", 60)?;
        } else if template == 10 {
            unsigned("orientationOfTheGrid", 61)?;
            unsigned("Di", 65)?;
            unsigned("Dj", 69)?;
        } else {
            unsigned("iDirectionIncrement", 64)?;
            // The same octets are a number of parallels on Gaussian grids.
            unsigned(if template == 40 { "N" } else { "jDirectionIncrement" }, 68)?;
        }
        let mut signed = |key, octet| {
            found.extend(Some((key, self.i32(octet)?)).filter(|_| self.u32(octet) != Ok(Octets::MISSING)));
            Ok::<_, GridError>(())
        };
        if is_plane {
            signed("latitudeOfFirstGridPoint", 39)?;
            signed("longitudeOfFirstGridPoint", 43)?;
            signed("LaD", 48)?;
            signed("LoV", 52)?;
        } else if template == 10 {
            signed("latitudeOfFirstGridPoint", 39)?;
            signed("longitudeOfFirstGridPoint", 43)?;
            signed("LaD", 48)?;
            signed("latitudeOfLastGridPoint", 52)?;
            signed("longitudeOfLastGridPoint", 56)?;
        } else {
            signed("latitudeOfFirstGridPoint", 47)?;
            signed("longitudeOfFirstGridPoint", 51)?;
            signed("latitudeOfLastGridPoint", 56)?;
            signed("longitudeOfLastGridPoint", 60)?;
        }
        if template == 30 {
            signed("Latin1", 66)?;
            signed("Latin2", 70)?;
        }
        if template == 1 {
            signed("latitudeOfSouthernPole", 73)?;
            signed("longitudeOfSouthernPole", 77)?;
        }
        found.push(("scanningMode", self.u8(mode)?.into()));
        Ok(found)
    }
}
