//! The templates of ignored files and CI configurations.

use super::Template;

/// The templates whose names are these, from a folder beside this file.
macro_rules! templates {
    ($folder:literal, $extension:literal: $($name:literal),+ $(,)?) => {
        &[$(Template {
            name: $name,
            content: include_str!(concat!($folder, "/", $name, $extension)),
        }),+]
    };
}

/// The templates of ignored files: first those of languages and frameworks, then those of editors and systems.
pub(super) const GITIGNORES: &[Template] = templates!(
    "gitignores", ".gitignore":
    "Ada",
    "Android",
    "C",
    "C++",
    "CMake",
    "Clojure",
    "CommonLisp",
    "Composer",
    "Crystal",
    "D",
    "Dart",
    "Elixir",
    "Elm",
    "Erlang",
    "Fortran",
    "Go",
    "Gradle",
    "Haskell",
    "Java",
    "Julia",
    "Kotlin",
    "Lua",
    "Maven",
    "Nim",
    "Node",
    "OCaml",
    "Objective-C",
    "Perl",
    "Python",
    "R",
    "Rails",
    "Ruby",
    "Rust",
    "Scala",
    "Smalltalk",
    "Swift",
    "TeX",
    "Terraform",
    "VisualStudio",
    "Yeoman",
    "Archives",
    "Backup",
    "Eclipse",
    "Emacs",
    "JetBrains",
    "Linux",
    "macOS",
    "Vim",
    "VisualStudioCode",
    "Windows",
);

/// The templates of CI configurations.
pub(super) const GITLAB_CI_YMLS: &[Template] = templates!(
    "gitlab_ci_ymls", ".yml":
    "Bash",
    "C++",
    "Crystal",
    "Docker",
    "Elixir",
    "Go",
    "Gradle",
    "Maven",
    "Nodejs",
    "PHP",
    "Python",
    "Ruby",
    "Rust",
    "Scala",
    "Swift",
);
