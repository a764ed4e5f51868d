//! Changes and deletions of posts and comments, with their entity tags.

use super::{Demo, SAVED, marked};
use serde_json::{Value, json};
use tests::{eventually, items};

impl Demo<'_> {
    /// Changes the post after somebody else did: first another field, and then the same one.
    pub(super) async fn merge_versions(&self, post: i64) {
        self.edit(post).await;
        self.change_elsewhere(post, &json!({ "title": "Theirs" })).await;
        self.save(post, "body", "Second", &marked("Mine", "Theirs")).await;
        self.expect_field(post, "title", "Theirs").await;
        self.expect_post(post, "Theirs", "First").await;
        self.save_as_it_is(post, SAVED).await;
        self.expect_post(post, "Theirs", "Second").await;
        self.change_elsewhere(post, &json!({ "title": "Hers" })).await;
        self.save(post, "title", "Mine again", &marked("Theirs", "Hers"))
            .await;
        let source = self.chromium.source().await;
        assert!(source.contains(&marked("Theirs", "Mine again")), "{source}");
        self.expect_field(post, "title", "Mine again").await;
        self.try_both_titles(post, "Mine again").await;
        let title = format!("#edit-{post}-title");
        self.chromium.fill(&title, "Mine at last").await;
        self.try_both_titles(post, "Mine at last").await;
        let source = self.chromium.source().await;
        assert!(source.contains("Mine at last</ins>"), "{source}");
        self.save_as_it_is(post, SAVED).await;
        self.expect_post(post, "Mine at last", "Second").await;
    }

    /// Chooses the title of the other version, and then the own one, which is this.
    async fn try_both_titles(&self, post: i64, own: &str) {
        self.chromium.press(&format!("#edit-{post}-title-theirs")).await;
        self.expect_field(post, "title", "Hers").await;
        self.chromium.press(&format!("#edit-{post}-title-mine")).await;
        self.expect_field(post, "title", own).await;
    }

    /// Somebody else changes the post.
    async fn change_elsewhere(&self, post: i64, members: &Value) {
        let change = self.user.patch(&format!("/posts/{post}"));
        change.header("if-match", "*").json(members).await.expect(200);
    }

    /// Loads the post again: first it is unchanged, and then somebody else has changed it.
    pub(super) async fn load_again(&self, post: i64) {
        let again = format!("#edit-{post}-again");
        let unchanged = "The post has not changed (304).";
        self.chromium.submit(&[], &again, unchanged).await;
        let call = self.call(&format!("GET /posts/{post} 304")).await;
        assert!(call.contains(&format!("If-None-Match: \"{post}-")), "{call}");
        // The field has no line breaks, and a title that the user did not touch keeps its own.
        self.change_elsewhere(post, &json!({ "title": "Read\nagain" }))
            .await;
        let changed = "The post changed since you read it. ";
        self.chromium.submit(&[], &again, changed).await;
        self.expect_field(post, "title", "Readagain").await;
        self.save(post, "body", "Third", SAVED).await;
        self.expect_post(post, "Read\nagain", "Third").await;
        self.change_elsewhere(post, &json!({ "title": "Read again" }))
            .await;
        self.chromium.submit(&[], &again, changed).await;
        self.expect_field(post, "title", "Read again").await;
    }

    /// Somebody else comments on the post.
    pub(super) async fn comment_elsewhere(&self, post: i64) {
        let comment = self.user.post(&format!("/posts/{post}/comments"));
        comment.json(&json!({ "body": "Listed" })).await.expect(201);
    }

    /// Deletes the comments on the post, those that the page wrote and those that it listed.
    pub(super) async fn delete_comments(&self, post: i64) {
        let path = format!("/posts/{post}/comments");
        for comment in items(&self.user.get(&path).await.expect(200)) {
            let id = &comment["id"];
            let button = format!("delete-comment-{id}");
            self.chromium.press(&format!("#{button}")).await;
            self.expect_gone(&button).await;
            let call = self.call(&format!("DELETE {path}/{id} 204")).await;
            assert!(call.contains(&format!("If-Match: \"{id}\"")), "{call}");
        }
        let left = items(&self.user.get(&path).await.expect(200));
        assert!(left.is_empty(), "{left:?}");
    }

    /// Deletes the post, whose version that the page read is not the latest one at first.
    pub(super) async fn delete_post(&self, post: i64) {
        self.change_elsewhere(post, &json!({ "body": "Kept" })).await;
        let [item, delete] = [format!("post-{post}"), format!("#edit-{post}-delete")];
        let open = format!("#{item} .versions details > summary");
        let shown = format!("id=\"{}\"", &delete[1..]);
        self.chromium.submit(&[], &open, &shown).await;
        self.chromium.submit(&[], &delete, "and was not deleted").await;
        self.expect_post(post, "Read again", "Kept").await;
        self.chromium.press(&delete).await;
        self.expect_gone(&item).await;
        let call = self.call(&format!("DELETE /posts/{post} 204")).await;
        assert!(call.contains(&format!("If-Match: \"{post}-")), "{call}");
        self.user.get(&format!("/posts/{post}")).await.expect(404);
    }

    /// Expects that the page has no element with this id, or will soon have none.
    async fn expect_gone(&self, id: &str) {
        let is_gone = "return document.getElementById(args[0]) === null";
        eventually("the element remains", async || {
            self.chromium.run(is_gone, &[json!(id)]).await == json!(true)
        })
        .await;
    }
}
