// Shows /openapi.json. What is tried out is called with the session of this browser, so a call that changes
// something carries the anti-forgery token, as any page's would.
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor: (request) => {
    const token = document.cookie.match(/(?:^|; )csrf=([^;]+)/);
    if (token && request.method !== "GET") {
      request.headers["x-csrf-token"] ??= token[1];
    }
    return request;
  },
});
