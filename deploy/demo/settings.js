// The settings of the page: the attributes of its element. The app is registered at its origin.
export const root = document.getElementById("demo");

const { issuer, api = issuer, origin = location.origin, clientId, path, callback } = root.dataset;
export const settings = { issuer, api, origin, clientId, path, callback };
