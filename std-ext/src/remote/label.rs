//! Addresses in error texts: without what may be secret.

use url::Url;

/// The address without user, password, query and fragment. Signatures stand there.
pub(super) fn without_secrets(url: &Url) -> String {
    let mut shown = url.clone();
    // `az://container@account/` names no user.
    if !matches!(url.scheme(), "az" | "azure" | "abfs" | "abfss" | "adl") {
        let _ = shown.set_username("");
    }
    // These fail for addresses without a host, which have neither.
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown.into()
}

/// [`without_secrets`] of a text that may be no address.
pub(super) fn text_without_secrets(address: &str) -> String {
    if let Ok(url) = Url::parse(address) {
        return without_secrets(&url);
    }
    let shown = address.split(['?', '#']).next().unwrap_or_default();
    match shown.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => shown.into(),
    }
}
