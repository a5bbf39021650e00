//! The diagrams of the rules: the files in the repository are what the program draws, and the pages show them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jarmo_facade::Games;
use lab::pictures::Album;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/games");

fn album() -> Album {
    Album::load(&Path::new(FOLDER).join("pictures.toml")).unwrap()
}

#[test]
fn the_pictures_in_the_repository_are_what_the_program_draws() {
    for picture in album().picture {
        let drawn = picture.draw(&Games::shipped()).unwrap();
        let kept = fs::read_to_string(Path::new(FOLDER).join(&picture.file)).unwrap();
        let how = "run `cargo run -p lab -- pictures docs/games/pictures.toml`";
        assert!(kept == drawn, "{} has changed; {how}", picture.file);
    }
}

#[test]
fn every_picture_is_shown_with_its_title_on_the_page_of_its_game() {
    let mut shown = BTreeSet::new();
    for picture in album().picture {
        let page = format!("{FOLDER}/{}.md", picture.game);
        let image = format!("![{}]({})", picture.title, picture.file);
        let text = fs::read_to_string(&page).unwrap();
        assert!(text.contains(&image), "{page} lacks {image}");
        shown.insert(picture.file);
    }
    for entry in fs::read_dir(FOLDER).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.ends_with(".svg") || shown.contains(&name), "{name}");
    }
}

#[test]
fn the_command_draws_a_list_and_names_what_is_wrong_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.toml");
    let draw = || {
        let mut command = assert_cmd::Command::cargo_bin("lab").unwrap();
        command.arg("pictures").arg(&list).assert()
    };
    let start = "[[picture]]\nfile = \"a.svg\"\ngame = \"jarmo\"\ntitle = \"<A>\"\n";
    fs::write(&list, start).unwrap();
    draw().success();
    let drawn = fs::read_to_string(folder.path().join("a.svg")).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    assert!(drawn.contains("<title>&lt;A></title>"), "{drawn}");
    assert_eq!(drawn.matches("<line ").count(), 2 * 39);
    assert_eq!(drawn.matches("<g transform").count(), 10);
    for (more, problem) in [
        ("legal = [\"A1-A2\"]", "a.svg: action `A1-A2`: no line leads"),
        ("illegal = [\"A1-C2\"]", "a.svg: A1-C2 is legal"),
        ("illegal = [\"Z1-C2\"]", "a.svg: Z1-C2 cannot be shown as an arrow"),
        ("position = \"x\"", "a.svg: "),
        ("colour = 1", "unknown field `colour`"),
    ] {
        fs::write(&list, format!("{start}{more}\n")).unwrap();
        draw().failure().stderr(predicates::str::contains(problem));
    }
}
