//! Statements and round trips of posts, comments, payments, and of the routes without SQL.

use super::routes;
use serde_json::json;
use tests::fresh_key;

routes! {
    // Operation, case, [statements, round trips], request.
    listPosts "bearer" [1 1] |f| f.bearer.get("/posts");
    listPosts "bearer, by status" [1 1] |f| f.bearer.get("/posts?status=published");
    listPosts "session" [2 2] |f| f.owner.get("/posts");
    createPost "bearer" [1 1] |f| f.bearer.post("/posts").json(&json!({ "title": "A post" }));
    createPost "bearer, with a key" [7 7] |f|
        f.bearer.post("/posts").key(&fresh_key()).json(&json!({ "title": "A post" }));
    createPost "session" [3 3] |f| f.owner.post("/posts").json(&json!({ "title": "A post" }));
    readPost "bearer" [1 1] |f| f.bearer.get(&f.published.path);
    readPost "bearer, not modified" [1 1] |f|
        f.bearer.get(&f.published.path).header("if-none-match", &f.published.etag);
    readPost "anonymous" [1 1] |f| f.world.anyone().get(&f.published.path);
    readPost "session" [2 2] |f| f.owner.get(&f.published.path);
    updatePost "bearer" [2 2] |f| {
        let post = f.owner.draft("A draft").await;
        f.bearer.patch(&post.path).header("if-match", &post.etag).json(&json!({ "title": "Another" }))
    };
    deletePost "bearer" [2 2] |f| {
        let post = f.owner.draft("A draft").await;
        f.bearer.delete(&post.path)
    };
    deletePost "bearer, If-Match" [2 2] |f| {
        let post = f.owner.draft("A draft").await;
        f.bearer.delete(&post.path).header("if-match", &post.etag)
    };

    listComments "bearer" [2 2] |f| f.bearer.get(&f.published.comments());
    listComments "anonymous" [2 2] |f| f.world.anyone().get(&f.published.comments());
    createComment "bearer" [2 2] |f|
        f.bearer.post(&f.published.comments()).json(&json!({ "body": "A comment" }));
    readComment "bearer" [2 2] |f| {
        let comment = f.owner.comment(&f.published, "A comment").await;
        f.bearer.get(&comment.path)
    };
    deleteComment "bearer" [3 3] |f| {
        let comment = f.owner.comment(&f.published, "A comment").await;
        f.bearer.delete(&comment.path)
    };

    listPayments "bearer" [1 1] |f| f.bearer.get("/payments");
    createPayment "bearer" [7 7] |f|
        f.bearer.payment(&fresh_key(), &json!({ "amount": 100, "currency": "EUR" }));
    createPayment "bearer, replayed" [1 1] |f| {
        let (key, members) = (fresh_key(), json!({ "amount": 100, "currency": "EUR" }));
        f.bearer.payment(&key, &members).await.expect(201);
        f.bearer.payment(&key, &members)
    };
    readPayment "bearer" [1 1] |f| {
        let payment = f.owner.pay(100).await;
        f.bearer.get(&payment.path)
    };
    capturePayment "bearer" [8 8] |f| {
        let payment = f.owner.pay(100).await;
        f.bearer.transition(&payment, "captures", &json!({}))
    };
    cancelPayment "bearer" [8 8] |f| {
        let payment = f.owner.pay(100).await;
        f.bearer.transition(&payment, "cancellations", &json!({}))
    };
    refundPayment "bearer" [8 8] |f| {
        let payment = f.owner.pay(100).await;
        f.owner.transition(&payment, "captures", &json!({})).await.expect(201);
        f.bearer.transition(&payment, "refunds", &json!({}))
    };

    readProtected "bearer" [0 0] |f| f.bearer.get("/protected");
    readResourceMetadata "" [0 0] |f| f.world.anyone().get("/.well-known/oauth-protected-resource");
    readDocument "" [0 0] |f| f.world.anyone().get("/openapi.json");
    readCsrfToken "" [0 0] |f| f.world.anyone().get("/csrf");
    livez "" [0 0] |f| f.world.anyone().get("/livez");
    readyz "" [0 0] |f| f.world.anyone().get("/readyz");
}
