//! Names of options, and which of them are credentials.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use object_store::ClientConfigKey;
use object_store::aws::AmazonS3ConfigKey;
use object_store::azure::AzureConfigKey;
use object_store::gcp::GoogleConfigKey;

use crate::remote::options::{Credentials, RemoteOptions, UnknownKeys};

/// Names of options of one kind of store.
pub(super) trait StoreKey: FromStr + Copy + PartialEq + 'static {
    /// How the names of its variables in the environment begin.
    const PREFIX: &'static str;
    /// Names that are suggested.
    const NAMES: &'static [&'static str];

    /// Options whose values prove who asks.
    const CREDENTIALS: &'static [Self];
    /// The option that leaves requests unsigned, if there is one.
    const UNSIGNED: Option<Self>;
    /// The option that allows connections without encryption.
    const HTTP: Self;
}

/// Names of the client's options, which all kinds of addresses have.
pub(super) const CLIENT_NAMES: [&str; 13] = [
    "allow_http",
    "allow_invalid_certificates",
    "connect_timeout",
    "disable_system_certificates",
    "http1_only",
    "http2_only",
    "pool_idle_timeout",
    "pool_max_idle_per_host",
    "proxy_ca_certificate",
    "proxy_excludes",
    "proxy_url",
    "read_timeout",
    "timeout",
];

/// Names of our own.
const OWN_NAMES: [&str; 3] = ["instance_credentials", "max_retries", "retry_timeout"];

impl StoreKey for ClientConfigKey {
    const PREFIX: &'static str = "";
    const NAMES: &'static [&'static str] = &["user_agent"];
    const CREDENTIALS: &'static [Self] = &[];
    const UNSIGNED: Option<Self> = None;
    const HTTP: Self = Self::AllowHttp;
}

impl StoreKey for AmazonS3ConfigKey {
    const PREFIX: &'static str = "aws_";
    const NAMES: &'static [&'static str] = &[
        "aws_access_key_id",
        "aws_default_region",
        "aws_endpoint",
        "aws_region",
        "aws_request_payer",
        "aws_role_arn",
        "aws_secret_access_key",
        "aws_session_token",
        "aws_skip_signature",
        "aws_virtual_hosted_style_request",
        "aws_web_identity_token_file",
        "region",
        "skip_signature",
    ];
    const CREDENTIALS: &'static [Self] = &[
        Self::AccessKeyId,
        Self::SecretAccessKey,
        Self::Token,
        Self::SkipSignature,
        Self::WebIdentityTokenFile,
        Self::RoleArn,
        Self::ContainerCredentialsRelativeUri,
        Self::ContainerCredentialsFullUri,
        Self::ContainerAuthorizationTokenFile,
    ];
    const UNSIGNED: Option<Self> = Some(Self::SkipSignature);
    const HTTP: Self = Self::Client(ClientConfigKey::AllowHttp);
}

impl StoreKey for GoogleConfigKey {
    const PREFIX: &'static str = "google_";
    const NAMES: &'static [&'static str] = &[
        "google_application_credentials",
        "google_base_url",
        "google_bearer_token",
        "google_service_account",
        "google_service_account_key",
        "google_skip_signature",
        "skip_signature",
    ];
    const CREDENTIALS: &'static [Self] = &[
        Self::ServiceAccount,
        Self::ServiceAccountKey,
        Self::ApplicationCredentials,
        Self::BearerToken,
        Self::SkipSignature,
    ];
    const UNSIGNED: Option<Self> = Some(Self::SkipSignature);
    const HTTP: Self = Self::Client(ClientConfigKey::AllowHttp);
}

impl StoreKey for AzureConfigKey {
    const PREFIX: &'static str = "azure_";
    const NAMES: &'static [&'static str] = &[
        "azure_endpoint",
        "azure_federated_token_file",
        "azure_skip_signature",
        "azure_storage_account_key",
        "azure_storage_account_name",
        "azure_storage_client_id",
        "azure_storage_client_secret",
        "azure_storage_sas_key",
        "azure_storage_tenant_id",
        "azure_storage_token",
        "azure_storage_use_emulator",
        "azure_use_azure_cli",
        "skip_signature",
    ];
    const CREDENTIALS: &'static [Self] = &[
        Self::AccessKey,
        Self::SasKey,
        Self::Token,
        Self::ClientId,
        Self::ClientSecret,
        Self::FederatedTokenFile,
        Self::MsiEndpoint,
        Self::UseAzureCli,
        Self::SkipSignature,
    ];
    const UNSIGNED: Option<Self> = Some(Self::SkipSignature);
    const HTTP: Self = Self::Client(ClientConfigKey::AllowHttp);
}

/// The options of an address, of all sources.
#[derive(Debug)]
pub(super) struct Settings<K> {
    /// In the order in which they are applied.
    pub(super) values: Vec<(K, String)>,
    pub(super) credentials: Credentials,
    /// Whether the cloud instance may be asked for credentials.
    pub(super) may_ask_instance: bool,
    pub(super) allows_http: Option<bool>,
    /// With `max_retries` and `retry_timeout`.
    pub(super) options: RemoteOptions,
}

/// Gathers the options for a kind of address. `environment` has the variables of the program.
///
/// # Errors
/// An option is not known, or its value is wrong. The text says it.
pub(super) fn settings<K: StoreKey>(
    options: &RemoteOptions,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Settings<K>, String> {
    let mut own = RemoteOptions { storage: BTreeMap::new(), ..options.clone() };
    let mut given = Vec::new();
    let mut may_ask_instance = None;
    for (name, value) in &options.storage {
        let name = name.to_ascii_lowercase();
        match (name.as_str(), K::from_str(&name)) {
            ("max_retries", _) => {
                own.retry.max_retries =
                    value.trim().parse().map_err(|_| format!("max_retries is not a number: {value:?}"))?;
            }
            ("retry_timeout", _) => {
                own.retry.within =
                    seconds(value).ok_or_else(|| format!("retry_timeout is not a number of seconds: {value:?}"))?;
            }
            ("instance_credentials", _) => may_ask_instance = Some(is_true(value)),
            (_, Ok(key)) => given.push((key, without_line_ends(&name, value)?)),
            (_, Err(_)) if options.unknown_keys == UnknownKeys::Ignore => {}
            (_, Err(_)) => return Err(unknown::<K>(&name)),
        }
    }
    let has_credentials = |values: &[(K, String)]| values.iter().any(|(key, _)| K::CREDENTIALS.contains(key));
    let from_options = has_credentials(&given);
    let mut values = Vec::new();
    if options.environment && !K::PREFIX.is_empty() {
        for (name, value) in environment {
            let name = name.to_ascii_lowercase();
            let is_asked = match name.as_str() {
                "tgm_instance_credentials" => is_true(&value),
                "aws_ec2_metadata_disabled" if K::PREFIX == "aws_" => !is_true(&value),
                _ => true,
            };
            if !is_asked {
                may_ask_instance.get_or_insert(false);
            }
            if value.is_empty() || !name.starts_with(K::PREFIX) {
                continue;
            }
            // Variables may be there for other programs, so an unknown one is not an error.
            let Ok(key) = K::from_str(&name) else { continue };
            if !(from_options && K::CREDENTIALS.contains(&key)) {
                values.push((key, without_line_ends(&name, &value)?));
            }
        }
    }
    let from_environment = has_credentials(&values);
    values.extend(given);
    let last = |wanted: K| values.iter().rev().find(|(key, _)| *key == wanted).map(|(_, value)| is_true(value));
    let credentials = match K::UNSIGNED.and_then(last) {
        Some(true) => Credentials::Anonymous,
        _ if from_options => Credentials::Options,
        _ if from_environment => Credentials::Environment,
        _ => Credentials::Instance,
    };
    let allows_http = last(K::HTTP);
    Ok(Settings { allows_http, values, credentials, may_ask_instance: may_ask_instance.unwrap_or(true), options: own })
}

/// The value of an option without line ends around it, which secrets have that were read from a file.
///
/// # Errors
/// A sentence with the name and without the value, if other control characters are in it: requests cannot have them.
fn without_line_ends(name: &str, value: &str) -> Result<String, String> {
    let value = value.trim_matches(['\r', '\n']);
    if value.contains(char::is_control) {
        return Err(format!("the value of {name} has a control character, such as a line end or a tab"));
    }
    Ok(value.to_string())
}

fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "on" | "yes" | "y")
}

/// `30`, `30 s`, `30s` or `2 min`.
fn seconds(text: &str) -> Option<Duration> {
    if let Ok(number) = text.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(number).ok();
    }
    humantime::parse_duration(text.trim()).ok()
}

/// The text for a name that is not known, with names that are near.
fn unknown<K: StoreKey>(name: &str) -> String {
    let mut near: Vec<_> = K::NAMES
        .iter()
        .chain(&CLIENT_NAMES)
        .chain(&OWN_NAMES)
        .map(|known| (distance(name, known), *known))
        .filter(|(distance, known)| *distance <= known.len() / 3)
        .collect();
    near.sort_unstable();
    let near: Vec<_> = near.into_iter().take(3).map(|(_, known)| known).collect();
    match near.as_slice() {
        [] => format!("unknown option {name:?}"),
        near => format!("unknown option {name:?}: is it {}?", near.join(" or ")),
    }
}

/// The number of letters to insert, remove or replace to make one text the other.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.bytes().enumerate() {
        let mut corner = i;
        let mut before = i + 1;
        for (j, b) in right.bytes().enumerate() {
            let Some(above) = row.get(j + 1).copied() else { break };
            let here = (above + 1).min(before + 1).min(corner + usize::from(a != b));
            if let Some(place) = row.get_mut(j) {
                *place = before;
            }
            corner = above;
            before = here;
        }
        if let Some(place) = row.last_mut() {
            *place = before;
        }
    }
    // The row has one place more than `right` has bytes, so it has a last one.
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known<K: StoreKey>() {
        for name in K::NAMES.iter().chain(&CLIENT_NAMES) {
            assert!(K::from_str(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn names_that_are_suggested_are_known() {
        known::<ClientConfigKey>();
        known::<AmazonS3ConfigKey>();
        known::<GoogleConfigKey>();
        known::<AzureConfigKey>();
    }

    #[test]
    fn distances_count_letters() {
        for (left, right, expected) in
            [("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("region", "region", 0)]
        {
            assert_eq!(distance(left, right), expected);
            assert_eq!(distance(right, left), expected);
        }
    }

    fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn unknown_names_are_refused_with_near_ones_or_ignored() {
        let mut options = RemoteOptions::new([("AWS_Regoin", "x")]);
        let error = settings::<AmazonS3ConfigKey>(&options, []).unwrap_err();
        assert_eq!(error, "unknown option \"aws_regoin\": is it aws_region?");
        options.unknown_keys = UnknownKeys::Ignore;
        assert!(settings::<AmazonS3ConfigKey>(&options, []).unwrap().values.is_empty());
    }

    #[test]
    fn credentials_of_options_and_environment_are_never_mixed() {
        let environment = env(&[
            ("AWS_ACCESS_KEY_ID", "env"),
            ("AWS_SECRET_ACCESS_KEY", "env"),
            ("AWS_SESSION_TOKEN", "env"),
            ("AWS_REGION", "env"),
            ("AWS_PROFILE", "unknown here"),
            ("AWS_ENDPOINT", ""),
            ("PATH", "env"),
        ]);
        let found = settings::<AmazonS3ConfigKey>(&RemoteOptions::default(), environment.clone()).unwrap();
        assert_eq!((found.values.len(), found.credentials), (4, Credentials::Environment));

        let options = RemoteOptions::new([("access_key_id", "given"), ("SECRET_ACCESS_KEY", "given")]);
        let found = settings::<AmazonS3ConfigKey>(&options, environment.clone()).unwrap();
        assert_eq!(found.credentials, Credentials::Options);
        let of_environment: Vec<_> = found.values.iter().filter(|(_, value)| value == "env").collect();
        assert_eq!(of_environment, [&(AmazonS3ConfigKey::Region, "env".to_string())]);

        let without = RemoteOptions { environment: false, ..RemoteOptions::default() };
        let found = settings::<AmazonS3ConfigKey>(&without, environment).unwrap();
        assert_eq!((found.values.len(), found.credentials), (0, Credentials::Instance));
        let anonymous = RemoteOptions::new([("skip_signature", "TRUE")]);
        assert_eq!(settings::<AmazonS3ConfigKey>(&anonymous, []).unwrap().credentials, Credentials::Anonymous);
    }

    /// A secret that is mounted as a file ends with a line end.
    #[test]
    fn line_ends_are_taken_off_and_other_control_characters_are_refused_by_name() {
        let environment = env(&[("AWS_SECRET_ACCESS_KEY", "\r\nsecret\n")]);
        let found = settings::<AmazonS3ConfigKey>(&RemoteOptions::default(), environment).unwrap();
        assert_eq!(found.values, [(AmazonS3ConfigKey::SecretAccessKey, "secret".to_string())]);
        let given = RemoteOptions::new([("secret_access_key", "secret\n")]);
        let found = settings::<AmazonS3ConfigKey>(&given, []).unwrap();
        assert_eq!(found.values, [(AmazonS3ConfigKey::SecretAccessKey, "secret".to_string())]);
        for value in ["hid\nden", "hid\tden", "hid\u{7f}den", "hid\0den"] {
            let environment = env(&[("AWS_SECRET_ACCESS_KEY", value)]);
            let given = RemoteOptions::new([("aws_secret_access_key", value)]);
            for found in [
                settings::<AmazonS3ConfigKey>(&RemoteOptions::default(), environment),
                settings::<AmazonS3ConfigKey>(&given, []),
            ] {
                let error = found.err().unwrap();
                assert!(error.contains("aws_secret_access_key") && !error.contains("hid"), "{error}");
            }
        }
    }

    #[test]
    fn the_instance_is_asked_for_credentials_unless_that_is_switched_off() {
        let may = |options: &[(&str, &str)], environment: &[(&str, &str)]| {
            let options = RemoteOptions::new(options.iter().copied());
            settings::<AmazonS3ConfigKey>(&options, env(environment)).unwrap().may_ask_instance
        };
        let off = [("instance_credentials", "false")];
        let variable = [("TGM_INSTANCE_CREDENTIALS", "0")];
        assert!(may(&[], &[]) && may(&[("instance_credentials", "true")], &variable));
        assert!(!may(&off, &[]) && !may(&[], &variable) && !may(&[], &[("AWS_EC2_METADATA_DISABLED", "TRUE")]));
        let azure = |environment| settings::<AzureConfigKey>(&RemoteOptions::default(), env(environment)).unwrap();
        assert!(azure(&[("AWS_EC2_METADATA_DISABLED", "true")]).may_ask_instance);
        assert!(!azure(&variable).may_ask_instance);
        let inside = RemoteOptions { environment: false, ..RemoteOptions::default() };
        assert!(settings::<GoogleConfigKey>(&inside, env(&variable)).unwrap().may_ask_instance);
    }

    #[test]
    fn retries_can_be_given_by_name() {
        let options = RemoteOptions::new([("max_retries", "2"), ("retry_timeout", "5 s")]);
        let retry = settings::<ClientConfigKey>(&options, []).unwrap().options.retry;
        assert_eq!((retry.max_retries, retry.within), (2, Duration::from_secs(5)));
        assert!(settings::<ClientConfigKey>(&RemoteOptions::new([("max_retries", "two")]), []).is_err());
    }
}
