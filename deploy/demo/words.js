// All words that the demo says itself. Those of the server come with its responses.
export const words = {
  elsewhere: "The demo app runs only at its own address. Open it there:",
  session: "Session",
  signIn: "Sign in",
  signOut: "Sign out",
  signOutAgain: "Sign out again",
  signedInAs: "Signed in as",
  ended: "You are not signed in",
  signInLost: "The answer to the sign-in was lost. It cannot be repeated.",

  token: "Access token",
  tokenHint:
    "The token is in the memory of this page only. The refresh token is in a cookie, which no script can read.",
  tokenLife: "Remaining life",
  renew: "Renew now",
  secondsLeft: (left, all) => `${left} of ${all} seconds`,

  more: "More",
  readAgain: "Load again",
  delete: "Delete",

  posts: "Posts",
  noPosts: "There are no posts yet. Write the first one.",
  title: "Title",
  text: "Text",
  status: "Status",
  createPost: "Create the post",
  byAuthor: ({ id, author_id: author, status }) => `Post ${id} of user ${author}, ${status}`,
  edit: "Edit",
  save: "Save",
  saved: (tag) => `Saved. The entity tag is now ${tag}.`,
  unchanged: (tag) => `The post has not changed (304). Its entity tag is still ${tag}.`,
  changed: "The post changed since you read it. What changed is marked at each field, and merged with your changes.",
  conflict:
    "The post changed since you read it (412). What changed is marked at each field, and merged with your changes. " +
    "Save again to keep what the form has now.",
  deleteHint: "Deletes the post for good, if it has not changed since you read it.",
  deleteConflict:
    "The post changed since you read it (412), and was not deleted. What changed is marked at each field.",
  taken: "From the other version:",
  bothChanged: "Both versions changed this field. Keep one, or write another text:",
  mine: "Yours:",
  theirs: "The other one:",
  del: "removed: ",
  ins: "added: ",

  comments: "Comments",
  noComments: "There are no comments yet.",
  comment: "Comment",
  createComment: "Add the comment",
  ofUser: (user) => `User ${user}`,

  payments: "Payments",
  paymentHint:
    "If no answer arrives, the payment may have been made all the same. Repeat it unchanged: it is made once. With " +
    "another amount or currency it is a second payment.",
  noPayments: "There are no payments yet.",
  amount: "Amount in cents, or in the smallest unit of the currency",
  currency: "Currency",
  pay: "Make a payment",
  loseAnswer: "Lose the answer, then repeat",
  samePayment: (id) =>
    `The first answer was lost, and the call was repeated with the same Idempotency-Key. The same payment came back: ` +
    `${id}. Nothing was paid twice.`,
  otherPayment: (first, second) => `The repetition made another payment: ${first} and then ${second}.`,
  capture: "Capture",
  refund: "Refund",
  amounts: (captured, refunded) => `captured ${captured}, refunded ${refunded}`,

  calls: "Calls",
  callsHint: (count) =>
    `The last ${count} calls of this page, the newest first. Tokens and other secrets are replaced by “…”.`,
  waiting: "waiting",
  noAnswer: "no answer",
  lost: "lost on purpose",
  cut: "The rest is not shown.",
  request: "Request",
  response: "Response",

  correlationId: "Correlation id:",
  // What to do after an error, by its class.
  signInAgain: "Sign in again.",
  tryAgain: "Try again: the session continues.",
  tryLater: (seconds) => `Try again in ${seconds} seconds.`,
  reference: "Errors in the API reference",
  explanation: "Errors of latchkey-auth",
};
