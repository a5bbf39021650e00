//! Agent files: what is written is read again, and whatever does not fit is refused by name.

use std::path::Path;

use crate::nets::{tiny, with_header};
use assert_cmd::Command;
use jarmo::agent_file;
use jarmo::game::Game;
use jarmo::games::board::Board;
use jarmo::games::{ConnectFour, Guard, Jarmo};
use jarmo::net::{AgentFile, MatchResult, NetSettings, NetShape, Provenance, Weights};
use jarmo::program::this_program;
use jarmo::random::stream;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

fn jarmo_agent() -> AgentFile {
    let game = Jarmo::standard();
    let net = NetSettings { width: 32, blocks: 1 };
    let weights = Weights::random(net, NetShape::of(&game), &mut stream(4, 0));
    let provenance =
        Provenance { program: this_program(), run: "runs/test".to_owned(), seed: 4, step: 1000, games: 250 };
    let result = MatchResult {
        settings: "sims=64".to_owned(),
        opponent: "rollout:1000".to_owned(),
        wins: 180,
        draws: 22,
        losses: 40,
    };
    AgentFile::new(&game, weights, provenance, vec![result])
}

#[test]
fn what_is_saved_is_loaded_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.safetensors");
    let file = jarmo_agent();
    agent_file::save(&file, &path).unwrap();
    let loaded = agent_file::load_for(&path, &Jarmo::standard()).unwrap();
    assert_eq!(loaded, file);
    agent_file::save(&loaded, &path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), file.to_bytes());
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary file is left");
}

#[test]
fn weights_are_rounded_to_multiples_of_a_power_of_two() {
    let agent = jarmo_agent();
    for steps in [6_u16, 64] {
        let rounded = agent.clone().rounded(steps);
        for ((name, exact), near) in agent.weights().tensors().iter().zip(rounded.weights().tensors().values()) {
            if exact.dims.len() == 1 {
                assert_eq!(exact, near, "{name}");
                continue;
            }
            let square: f32 = exact.data.iter().map(|number| number * number).sum::<f32>() / exact.data.len() as f32;
            let unit = (square.sqrt() / f32::from(steps)).log2().floor().exp2();
            for (exact, near) in exact.data.iter().zip(&near.data) {
                assert!((exact - near).abs() <= unit / 2.0, "{name}: {exact} {near}");
                assert_eq!(near % unit, 0.0, "{name}: {near}");
            }
            assert_ne!(exact, near, "{name}");
        }
        assert_eq!(rounded.clone().rounded(steps), rounded);
        let (exact, near) = (agent.to_bytes(), rounded.to_bytes());
        assert!(near.len() < exact.len() * 6 / 10, "in floats of 16 bits");
        assert_eq!(AgentFile::from_bytes(&near).unwrap(), rounded);
    }
}

#[test]
fn weights_that_could_overflow_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.safetensors");
    let bytes = jarmo_agent().to_bytes();
    let first = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize; // behind the header
    let refused = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        jarmo::checksum::seal(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let error = agent_file::load(&path).err().map(|error| error.to_string());
        if let Some(error) = &error {
            assert!(error.starts_with(path.to_str().unwrap()), "{error}");
            assert!(error.contains("overflow") || error.contains("finite"), "{error}");
        }
        error.is_some()
    };
    let mut large = bytes.clone();
    for number in large[first..].chunks_exact_mut(4) {
        number.copy_from_slice(&1e30_f32.to_le_bytes());
    }
    assert!(refused(&large));
    // One bit makes a small number a huge one. Zeros become 2, which any sum can take.
    let mut refusals = 0;
    for place in (first..bytes.len()).step_by(4 * 997) {
        let mut damaged = bytes.clone();
        damaged[place + 3] ^= 0x40;
        refusals += usize::from(refused(&damaged));
    }
    assert!(refusals > 10, "{refusals}");
    assert!(!refused(&bytes));
}

#[test]
fn every_damaged_byte_is_noticed() {
    let whole = jarmo_agent().to_bytes();
    let header = 8 + u64::from_le_bytes(*whole.first_chunk().unwrap()) as usize;
    let refused = |bytes: &[u8]| AgentFile::from_bytes(bytes).is_err();
    for place in (0..header).chain((header..whole.len()).step_by(499)) {
        let mut damaged = whole.clone();
        damaged[place] ^= 1 << (place % 8);
        assert!(refused(&damaged), "byte {place}");
    }
    assert!(refused(&[&whole[..], b"0"].concat()));
    assert!(!refused(&whole));
}

#[test]
fn a_file_for_something_else_is_refused_with_both_named() {
    let file = jarmo_agent();
    let jarmo = Jarmo::standard();
    let error = |file: &AgentFile| file.clone().for_game(&jarmo).unwrap_err().to_string();
    for (from, to, message) in [
        (
            r#""encoder_version":3"#,
            r#""encoder_version":7"#,
            "encoder version 7, this program needs 3; use the version that wrote it",
        ),
        (
            r#""rules_version":1"#,
            r#""rules_version":9"#,
            "rules version 9 of jarmo, this program has version 1; use the version that wrote it",
        ),
        (r#""board":"A1-C2 "#, r#""board":""#, "is for another board, with the lines A1-B3"),
    ] {
        let changed = AgentFile::from_bytes(&with_header(&file, from, to)).unwrap();
        assert!(error(&changed).contains(message), "{}", error(&changed));
    }
    let other = file.clone().for_game(&ConnectFour::new(0));
    let expected = "it is for jarmo, not for connect_four; choose a file for connect_four, or the game jarmo";
    assert_eq!(other.unwrap_err().to_string(), expected);
    assert!(file.clone().for_game(&Guard::standard()).is_err());
    let short = Jarmo::new(Board::standard(), 50);
    assert_eq!(file.clone().for_game(&short).unwrap(), file);
    assert_eq!(file.clone().for_game(&jarmo.with_max_plies(0)).unwrap(), file);
}

/// A file whose header states eight arrays of the largest size, 2^64 - 8 bytes together.
fn enormous() -> Vec<u8> {
    let size = (1_u64 << 61) - 1;
    let array = |number: u64| {
        let (start, end) = (number * size, (number + 1) * size);
        format!(r#""{number}":{{"dtype":"U8","shape":[{size}],"data_offsets":[{start},{end}]}}"#)
    };
    let arrays: Vec<String> = (0..8).map(array).collect();
    let header = format!("{{{}}}", arrays.join(","));
    [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
}

#[test]
fn a_broken_file_is_refused_with_its_name_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.safetensors");
    let file = tiny(&Jarmo::standard(), 4);
    let whole = file.to_bytes();
    let plain = safetensors::serialize(Vec::<(String, safetensors::tensor::TensorView<'_>)>::new(), None);
    let mut nan = whole.clone();
    nan.truncate(whole.len() - 4);
    nan.extend_from_slice(&f32::NAN.to_le_bytes());
    jarmo::checksum::seal(&mut nan);
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for (content, message) in [
        (Vec::new(), "not a complete safetensors file"),
        (whole[..100].to_vec(), "not a complete safetensors file"),
        (whole[..whole.len() - 1].to_vec(), "not a complete safetensors file"),
        (b"these bytes are no such thing at all".to_vec(), "not a complete safetensors file"),
        (plain.unwrap(), "its metadata has no `jarmo`"),
        (enormous(), "bytes, but its header states 18446744073709551615"),
        (nan, "holds NaN"),
        (damaged, "damaged: its checksum does not match"),
        (with_header(&file, r#""checksum""#, r#""checksun""#), "its header has no checksum"),
        (with_header(&file, r#""format":3"#, r#""format":1"#), "agent format 1, this program reads 3"),
        (with_header(&file, r#""width":32"#, r#""width":33"#), "net.width = 33"),
        (with_header(&file, r#""width":32"#, r#""width":64"#), "a network mlp 64x1 needs"),
        (with_header(&file, r#""features":2850"#, r#""features":99999999999"#), "shape.features = 99999999999"),
        (with_header(&file, r#""game":"jarmo""#, r#""game":7"#), "broken header"),
    ] {
        std::fs::write(&path, content).unwrap();
        let error = agent_file::load(&path).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(error.contains("broken.safetensors: "), "{error}");
    }
    for cut in (0..whole.len()).step_by(997) {
        assert!(AgentFile::from_bytes(&whole[..cut]).is_err());
    }
    let missing = agent_file::load(Path::new("no/such.safetensors")).unwrap_err();
    assert!(missing.to_string().starts_with("no/such.safetensors: "));
    let run = agent_file::load(folder.path()).unwrap_err().to_string();
    assert!(run.contains(": a folder, and no run: no checkpoints in "), "{run}");
    let unwritable = agent_file::save(&file, Path::new("no/such.safetensors")).unwrap_err();
    assert!(unwritable.to_string().contains("nothing was written"));
}

fn program() -> Command {
    Command::cargo_bin("jarmo").unwrap()
}

#[test]
fn inspect_shows_the_header_the_tensors_and_an_opinion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.safetensors");
    agent_file::save(&jarmo_agent(), &path).unwrap();
    program().args(["inspect", "--position", "start"]).arg(&path).assert().success().stdout(
        contains("jarmo, rules version 1, encoder version 3")
            .and(contains("mlp 32x1"))
            .and(contains("step 1000, 250 games"))
            .and(contains("against rollout:1000: 180 won, 22 drawn, 40 lost"))
            .and(contains("stem.weight"))
            .and(contains("bbbbb/5/5/5/wwwww w - - 0"))
            .and(contains("A1-C2")),
    );
    let inspected = program().args(["inspect", "--json", "--position", "start"]).arg(&path).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&inspected.stdout).unwrap();
    assert_eq!(json["header"]["game"], "jarmo");
    let output = &json["output"];
    assert_eq!(output["policy"].as_array().unwrap().len(), 11);
    assert_eq!(output["policy_logits"].as_array().unwrap().len(), 84);
    assert_eq!(output["score_logits"].as_array().unwrap().len(), 21);
}

#[test]
fn nothing_in_a_header_controls_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.safetensors");
    let escape = r"\\u001b[2J\\u0007"; // JSON inside JSON
    let quiet = |arguments: &[&str]| {
        let output = program().args(arguments).arg(&path).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
        text
    };
    for (from, to) in [
        (r#""game":"jarmo"#, format!(r#""game":"{escape}"#)),
        (r#""board":"A1-"#, format!(r#""board":"{escape}"#)),
        (r#""program":""#, format!(r#""program":"{escape}"#)),
        (r#""run":""#, format!(r#""run":"{escape}"#)),
        (r#""settings":""#, format!(r#""settings":"{escape}"#)),
        (r#""opponent":""#, format!(r#""opponent":"{escape}"#)),
        (r#""rules_version":1"#, format!(r#""rules_version":"{escape}""#)),
    ] {
        std::fs::write(&path, with_header(&jarmo_agent(), from, &to)).unwrap();
        let shown = quiet(&["inspect"]);
        assert!(shown.contains("[2J"), "{from}: {shown}");
        quiet(&["arena", "random", "--games", "2"]);
        quiet(&["accuracy", "--nodes", "0", "--worst", "0"]);
    }
}

#[test]
fn inspect_refuses_what_it_cannot_show() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.safetensors");
    agent_file::save(&jarmo_agent(), &path).unwrap();
    program().args(["inspect", "no/such.safetensors"]).assert().code(1).stderr(contains("no/such.safetensors: "));
    program().args(["inspect", "--position", "rubbish"]).arg(&path).assert().code(2).stderr(contains("--position: "));
}

#[test]
fn bench_net_measures_every_kernel_of_this_machine() {
    let run = |arguments: &[&str]| {
        program()
            .args(["bench", "net", "--json", "--seconds", "0.01", "--batch", "64"])
            .args(arguments)
            .output()
            .unwrap()
    };
    let json: serde_json::Value = serde_json::from_slice(&run(&["--width", "64"]).stdout).unwrap();
    let kernels = json["kernels"].as_array().unwrap();
    assert_eq!(kernels[0]["kernel"], "portable");
    for kernel in kernels {
        assert!(kernel["positions_per_s"].as_f64().unwrap() > 0.0);
        assert!(kernel["positions_per_cpu_s"].as_f64().unwrap() > 0.0);
    }
    for (arguments, message) in [(["--width", "33"], "net.width = 33"), (["--kernel", "mmx"], "unknown kernel `mmx`")] {
        let refused = run(&arguments);
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains(message));
    }
}

#[test]
fn what_the_arena_said_goes_into_the_header() {
    let home = tempfile::tempdir().unwrap();
    let [agent, told, out] = ["agent.safetensors", "told.json", "out.safetensors"]
        .map(|name| home.path().join(name).to_str().unwrap().to_owned());
    agent_file::save(&tiny(&Jarmo::standard(), 3), agent.as_ref()).unwrap();
    let spec = format!("{agent}?sims=4&kernel=portable");
    let arena =
        program().args(["arena", &spec, "random", "greedy", "--gauntlet", "--games", "4", "--json"]).output().unwrap();
    std::fs::write(&told, arena.stdout).unwrap();
    program().args(["export", &agent, "--results", &told, "--out", &out]).assert().success();
    let file = agent_file::load(out.as_ref()).unwrap();
    let results = &file.header().results;
    let opponents: Vec<&str> = results.iter().map(|result| &*result.opponent).collect();
    assert_eq!(opponents, ["random", "greedy"]);
    for result in results {
        assert_eq!(result.settings, "sims=4&kernel=portable");
        assert_eq!(result.wins + result.draws + result.losses, 4);
    }
    program().args(["inspect", &out]).assert().success().stdout(contains("greedy"));
    let export = |report: &[&str]| {
        let arena = program().args(["arena", "--games", "2", "--json"]).args(report).output().unwrap();
        std::fs::write(&told, arena.stdout).unwrap();
        program().args(["export", &agent, "--results", &told, "--out", &out]).assert().code(1)
    };
    export(&["random", "greedy", "--game", "tammi"])
        .stderr(contains("its games are of tammi, and the agent plays jarmo"));
    export(&["random", &agent]).stderr(contains("its first agent is random, which has no file"));
    program()
        .args(["export", &agent, "--results", &agent, "--out", &out])
        .assert()
        .code(1)
        .stderr(contains("agent.safetensors"));
    program()
        .args(["arena", &format!("{agent}?kernel=fast"), "random", "--games", "2"])
        .assert()
        .code(2)
        .stderr(contains("expected `portable` or `int8`"));
}
