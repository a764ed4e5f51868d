// Shows /openapi.json. Requests that a visitor tries out use the session of the browser, so the interceptor adds the
// anti-forgery token.
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
