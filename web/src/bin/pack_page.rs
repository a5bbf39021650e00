//! Makes the folder of the page without a server: `pack_page PROGRAM.wasm LEARN.wasm FOLDER`, with the programs of `web`
//! and of `web/learn`. `tools/build_page` calls it.
//!
//! Everything but the files that must keep their names lies in a folder named by a hash of its content.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use jarmo_core::agent::AgentSource;
use jarmo_core::checksum::digits;
use jarmo_data::EXAMS;
use jarmo_exact::agent::AgentSpec;
use jarmo_exact::catalog::GAMES;
use jarmo_session::levels::Level;

/// What the page may load and do.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";

/// Files whose addresses stay the same.
const FIXED: [&str; 4] = ["index.html", "learn.html", "manifest.webmanifest", "offline.js"];

/// The script that names the folder of this version, the levels, and the games with exams.
const FOLDER: &str = "folder.js";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(program), Some(learner), Some(out)) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err("usage: pack_page PROGRAM.wasm LEARN.wasm FOLDER".into());
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    // Those of this crate take the place of those with the same name.
    for folder in ["play/src/server/page", "web/page"] {
        for entry in fs::read_dir(root.join(folder))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            files.retain(|(other, _)| *other != name);
            files.push((name, fs::read(&path)?));
        }
    }
    files.push(("program.bin".to_owned(), pack(&fs::read(program)?)?));
    files.push(("learn.bin".to_owned(), pack(&fs::read(learner)?)?));
    for (game, exam) in EXAMS {
        files.push((format!("{game}.exam.bin"), pack(exam)?));
    }
    for game in ["jarmo", "connect_four"] {
        let name = format!("{game}.explorer");
        let openings = fs::read(root.join("checkpoints").join(&name))?;
        files.push((name, openings));
    }
    for game in GAMES {
        let path = root.join(format!("checkpoints/{game}.safetensors"));
        // Of 20,000 decisions in an exam, at most 14 more or fewer are wrong with these weights; guard has no exam.
        let agent = jarmo_host::agent_file::load(&path)?.rounded(6);
        files.push((format!("{game}.bin"), pack(&jarmo_web::parted(&agent.to_bytes()))?));
    }
    files.sort();
    write(&files, &out)
}

/// By game: the levels from the usual one on that play by the trained agent, and their specs. An agent that learns in a
/// tab meets them.
fn levels() -> BTreeMap<&'static str, Vec<(&'static str, String)>> {
    let spec = |level: Level, game| Some(AgentSpec::Network(AgentSource::Program, level.settings(game)?).to_string());
    let higher = Level::ALL.into_iter().filter(|&level| level >= Level::USUAL);
    let of = |game| higher.clone().filter_map(|level| Some((level.name(), spec(level, game)?))).collect();
    GAMES.iter().map(|&game| (game, of(game))).collect()
}

fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes)?;
    packed.finish()
}

fn write(files: &[(String, Vec<u8>)], out: &Path) -> Result<(), Box<dyn Error>> {
    let all: Vec<&[u8]> = files.iter().flat_map(|(name, content)| [name.as_bytes(), content]).collect();
    let folder = digits(&all);
    // An agent is fetched when its game is chosen, and what learns when someone lets it.
    let later = |name: &str| name.ends_with(".bin") && name != "program.bin";
    let first = |name: &str| !FIXED.contains(&name) && !later(name);
    let mut listed: Vec<String> = ["./", "learn.html", "manifest.webmanifest"].map(str::to_owned).to_vec();
    listed.extend(files.iter().filter(|(name, _)| first(name)).map(|(name, _)| format!("{folder}/{name}")));
    let listed = serde_json::to_string(&listed)?;
    let levels = serde_json::to_string(&levels())?;
    let exams = serde_json::to_string(&EXAMS.map(|(game, _)| game))?;
    let head = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"theme-color\" content=\"#2f6f62\">\n\
         <link rel=\"manifest\" href=\"manifest.webmanifest\">\n\
         <link rel=\"apple-touch-icon\" href=\"{folder}/icon-192.png\">\n<title>"
    );
    // The folder is replaced as a whole, so it must be new, or a page.
    let has_other = out.read_dir().is_ok_and(|mut files| files.next().is_some()) && !out.join("offline.js").exists();
    if has_other {
        return Err(
            format!("{}: the folder has other files than a page's, which would be deleted", out.display()).into()
        );
    }
    let _ = fs::remove_dir_all(out);
    fs::create_dir_all(out.join(&folder))?;
    for (name, content) in files {
        let fixed = FIXED.contains(&name.as_str());
        let path = if fixed { out.join(name) } else { out.join(&folder).join(name) };
        if fixed || name == FOLDER {
            let text = std::str::from_utf8(content)?
                .replace("assets/", &format!("{folder}/"))
                .replace("FOLDER", &folder)
                .replace("[/* FILES */]", &listed)
                .replace("{/* LEVELS */}", &levels)
                .replace("[/* EXAMS */]", &exams)
                .replacen("<title>", &head, 1);
            fs::write(path, text)?;
        } else {
            fs::write(path, content)?;
        }
    }
    Ok(())
}
