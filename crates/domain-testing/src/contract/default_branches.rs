//! Default branches; see
//! [`Projects::set_default_branch`](hexforge_domain::project::port::Projects::set_default_branch).

use super::check::{project, read, write};
use crate::builders::{a_branch, a_project, a_user, at, home_of};
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::{BuildSettings, BuildTimeout, CoverageExpression, Project};

/// No other field and no other project changes.
pub fn setting_a_default_branch_changes_nothing_else(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    let site = a_project("site", home, ada).stored_in(store);
    let other = a_project("other", home, ada).stored_in(store);
    assert_eq!(site.default_branch, None);
    for name in [Some("master"), Some("ünï/🦀"), Some("ünï/🦀"), None, Some("Master")] {
        let default_branch = name.map(a_branch);
        write(store, |tx| tx.projects().set_default_branch(site.id, default_branch.as_ref()));
        let expected = Project { default_branch, ..site.clone() };
        assert_eq!(project(store, site.id), expected);
        assert_eq!(read(store, |tx| tx.projects().find_all(&[site.id])), [expected]);
    }
    let before = project(store, site.id);
    for name in [Some("logo.png"), None] {
        write(store, |tx| tx.projects().set_avatar(site.id, name));
        let expected = Project { avatar: name.map(str::to_owned), ..before.clone() };
        assert_eq!(project(store, site.id), expected);
    }
    assert_eq!(project(store, other.id), other);
}

/// See [`Projects::update`](hexforge_domain::project::port::Projects::update): the default branch
/// of a stale project does not overwrite the stored one.
pub fn updating_does_not_overwrite_the_default_branch(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let site = a_project("site", home_of(store, ada), ada).stored_in(store);
    let branch = a_branch("master");
    write(store, |tx| tx.projects().set_default_branch(site.id, Some(&branch)));
    for stale in [None, Some(a_branch("other"))] {
        let stale = Project { default_branch: stale, updated_at: at(1), ..site.clone() };
        write(store, |tx| tx.projects().update(&stale));
        let expected = Project { default_branch: Some(branch.clone()), ..stale };
        assert_eq!(project(store, site.id), expected);
    }
}

/// The settings for builds belong to one project and do not touch its coverage expression.
pub fn build_settings_belong_to_one_project(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    let site = a_project("site", home, ada).stored_in(store);
    let other = a_project("other", home, ada).stored_in(store);
    let of = |project: &Project| {
        let settings = read(store, |tx| tx.projects().admin_settings(project.id));
        assert_eq!(
            settings.runners_token,
            read(store, |tx| tx.projects().runners_token(project.id))
        );
        assert_eq!(
            settings.coverage_expression,
            read(store, |tx| tx.projects().coverage_expression(project.id))
        );
        assert_eq!(settings.build, read(store, |tx| tx.projects().build_settings(project.id)));
        settings.build
    };
    assert_eq!(of(&site), BuildSettings::default());
    let expression = CoverageExpression::stored("x".to_owned());
    write(store, |tx| tx.projects().set_coverage_expression(site.id, Some(&expression)));
    assert_eq!(of(&site), BuildSettings::default());
    for (seconds, git_fetch) in [(60, false), (7200, true)] {
        let settings = BuildSettings { timeout: BuildTimeout::stored(seconds), git_fetch };
        write(store, |tx| tx.projects().set_build_settings(site.id, settings));
        assert_eq!(of(&site), settings);
        assert_eq!(of(&other), BuildSettings::default());
    }
    let kept = read(store, |tx| tx.projects().coverage_expression(site.id));
    assert_eq!(kept, Some(expression));
    assert_eq!(project(store, site.id), site, "nothing else changes");
}

/// The expression belongs to one project and can be removed.
pub fn setting_a_coverage_expression_changes_nothing_else(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    let site = a_project("site", home, ada).stored_in(store);
    let other = a_project("other", home, ada).stored_in(store);
    let of = |project: &Project| read(store, |tx| tx.projects().coverage_expression(project.id));
    assert_eq!(of(&site), None);
    for text in ["(\\d+)% covered", "/ünï: \\d/i"] {
        let expression = CoverageExpression::stored(text.to_owned());
        let set = Some(&expression);
        write(store, |tx| tx.projects().set_coverage_expression(site.id, set));
        assert_eq!(of(&site).as_ref(), set);
        assert_eq!(of(&other), None);
    }
    write(store, |tx| tx.projects().set_coverage_expression(site.id, None));
    assert_eq!(of(&site), None);
    assert_eq!(project(store, site.id), site, "nothing else changes");
    write(store, |tx| tx.projects().delete(site.id));
    assert_eq!(of(&site), None);
}
