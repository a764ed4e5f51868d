//! Statements and round trips of posts, comments, payments, and of the routes without SQL.

use super::routes;
use serde_json::json;
use tests::fresh_key;

routes! {
    // Operation, case, [statements, round trips], request.
    listPosts "bearer" [2 6] |f| f.bearer.get("/posts");
    listPosts "bearer, by status" [2 6] |f| f.bearer.get("/posts?status=published");
    listPosts "session" [2 6] |f| f.owner.get("/posts");
    createPost "bearer" [4 8] |f| f.bearer.post("/posts").json(&json!({ "title": "A post" }));
    createPost "bearer, with a key" [8 14] |f|
        f.bearer.post("/posts").key(&fresh_key()).json(&json!({ "title": "A post" }));
    createPost "session" [4 8] |f| f.owner.post("/posts").json(&json!({ "title": "A post" }));
    readPost "bearer" [2 6] |f| f.bearer.get(&f.published.path);
    readPost "bearer, not modified" [2 6] |f|
        f.bearer.get(&f.published.path).header("if-none-match", &f.published.etag);
    readPost "anonymous" [1 3] |f| f.world.anyone().get(&f.published.path);
    readPost "session" [2 6] |f| f.owner.get(&f.published.path);
    updatePost "bearer" [3 9] |f| {
        let post = f.owner.draft("A draft").await;
        f.bearer.patch(&post.path).header("if-match", &post.etag).json(&json!({ "title": "Another" }))
    };
    deletePost "bearer" [3 9] |f| {
        let post = f.owner.draft("A draft").await;
        f.bearer.delete(&post.path)
    };
    deletePost "bearer, If-Match" [3 9] |f| {
        let post = f.owner.draft("A draft").await;
        f.bearer.delete(&post.path).header("if-match", &post.etag)
    };

    listComments "bearer" [3 9] |f| f.bearer.get(&f.published.comments());
    listComments "anonymous" [2 6] |f| f.world.anyone().get(&f.published.comments());
    createComment "bearer" [5 11] |f|
        f.bearer.post(&f.published.comments()).json(&json!({ "body": "A comment" }));
    readComment "bearer" [3 9] |f| {
        let comment = f.owner.comment(&f.published, "A comment").await;
        f.bearer.get(&comment.path)
    };
    deleteComment "bearer" [4 12] |f| {
        let comment = f.owner.comment(&f.published, "A comment").await;
        f.bearer.delete(&comment.path)
    };

    listPayments "bearer" [2 6] |f| f.bearer.get("/payments");
    createPayment "bearer" [8 14] |f|
        f.bearer.payment(&fresh_key(), &json!({ "amount": 100, "currency": "EUR" }));
    createPayment "bearer, replayed" [2 6] |f| {
        let (key, members) = (fresh_key(), json!({ "amount": 100, "currency": "EUR" }));
        f.bearer.payment(&key, &members).await.expect(201);
        f.bearer.payment(&key, &members)
    };
    readPayment "bearer" [2 6] |f| {
        let payment = f.owner.pay(100).await;
        f.bearer.get(&payment.path)
    };
    capturePayment "bearer" [9 17] |f| {
        let payment = f.owner.pay(100).await;
        f.bearer.transition(&payment, "captures", &json!({}))
    };
    cancelPayment "bearer" [9 17] |f| {
        let payment = f.owner.pay(100).await;
        f.bearer.transition(&payment, "cancellations", &json!({}))
    };
    refundPayment "bearer" [9 17] |f| {
        let payment = f.owner.pay(100).await;
        f.owner.transition(&payment, "captures", &json!({})).await.expect(201);
        f.bearer.transition(&payment, "refunds", &json!({}))
    };

    readProtected "bearer" [1 3] |f| f.bearer.get("/protected");
    readResourceMetadata "" [0 0] |f| f.world.anyone().get("/.well-known/oauth-protected-resource");
    readDocument "" [0 0] |f| f.world.anyone().get("/openapi.json");
    readCsrfToken "" [0 0] |f| f.world.anyone().get("/csrf");
    livez "" [0 0] |f| f.world.anyone().get("/livez");
    readyz "" [1 3] |f| f.world.anyone().get("/readyz");
}
