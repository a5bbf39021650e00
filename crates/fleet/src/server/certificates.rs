//! The certificates of a server that encrypts.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};

/// The texts of the files.
pub(super) struct Certificates {
    /// The certificate of the authority.
    pub(super) authority: String,
    /// Its secret key.
    pub(super) authority_key: String,
    /// The server's certificate.
    pub(super) server: String,
    /// Its secret key.
    pub(super) server_key: String,
}

impl Certificates {
    /// A certificate for a host, signed by a new authority or by the one with this key.
    pub(super) fn new(host: &str, key: Option<&str>) -> Result<Certificates, rcgen::Error> {
        let mut authority = CertificateParams::new(Vec::new())?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        authority.distinguished_name.push(DnType::CommonName, "jarmo fleet");
        let key = key.map_or_else(KeyPair::generate, KeyPair::from_pem)?;
        let authority_key = key.serialize_pem();
        let authority = CertifiedIssuer::self_signed(authority, key)?;
        let mut names = vec![host, "localhost", "127.0.0.1"];
        names.dedup();
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let mut server = CertificateParams::new(names)?;
        server.distinguished_name.push(DnType::CommonName, "jarmo server");
        let server_key = KeyPair::generate()?;
        let certificate = server.signed_by(&server_key, &authority)?;
        Ok(Certificates {
            authority: authority.pem(),
            authority_key,
            server: certificate.pem(),
            server_key: server_key.serialize_pem(),
        })
    }
}
