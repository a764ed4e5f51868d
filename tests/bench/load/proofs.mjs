// Makes DPoP proofs (RFC 9449 §4.2), which are valid for a minute. Standard input has a line for each: the URL. Prints the proofs, a
// line each.
// Arguments: the file of the private key, which is made if it does not exist; the method; the access token or ""; the nonce or "".

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const [file, method, token, nonce] = process.argv.slice(2);
if (!existsSync(file)) {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }));
}
const key = createPrivateKey(readFileSync(file));
const { kty, crv, x, y } = createPublicKey(key).export({ format: "jwk" });
const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const header = encode({ typ: "dpop+jwt", alg: "ES256", jwk: { kty, crv, x, y } });
const ath = token ? createHash("sha256").update(token).digest("base64url") : undefined;
const iat = Math.floor(Date.now() / 1000);
const claims = { htm: method, iat, ath, nonce: nonce || undefined };

const prefix = crypto.randomUUID();
const urls = readFileSync(0, "utf8").split("\n").filter((line) => line);
const proofs = urls.map((htu, index) => {
  const signed = `${header}.${encode({ ...claims, jti: `${prefix}-${index}`, htu })}`;
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}\n`;
});
process.stdout.write(proofs.join(""));
