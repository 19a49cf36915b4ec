import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/pki/keys.ts
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
function generateKey() {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}
function keyToPem(key) {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
function keyFromPem(pem) {
  let key = createPrivateKey(pem);
  if (!isP256(key)) throw new Error("the key is not on the curve P-256");
  return key;
}
function publicKeyOf(key) {
  return createPublicKey(key);
}
function isP256(key) {
  return key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1";
}

// src/pki/certificate-template.ts
import { X509Certificate } from "node:crypto";
var usageTable = {
  "digital signature": { bit: 0 },
  "cert sign": { bit: 5 },
  "crl sign": { bit: 6 },
  "server auth": { purpose: "1.3.6.1.5.5.7.3.1" },
  "client auth": { purpose: "1.3.6.1.5.5.7.3.2" }
};
function assertConsistent(template) {
  let { usages, authority = !1, issuer, serial } = template;
  if (usages.length === 0) throw new Error("a certificate without usages");
  if (usages.includes("cert sign") !== authority) throw new Error('"cert sign" is for an authority, and needed by it');
  if (!isP256(issuer.key)) throw new Error("the issuer signs with P-256 only");
  serial !== void 0 && assertSerial(serial), assertSubject(template.subject), assertValidity(template.notBefore, template.notAfter), assertIssuer(issuer, template.publicKey);
}
function assertSubject({ commonName, organizations }) {
  if (![commonName, ...organizations].every((text) => text !== "" && text.isWellFormed())) throw new Error("a common name or organization is empty or not Unicode text");
}
function assertSerial(serial) {
  let [first = 0, second = 0] = serial;
  if (!(first < 128 && (first !== 0 || second >= 128)) || serial.length > 20) throw new Error("a serial is a positive number of 1 to 20 bytes");
}
function assertValidity(notBefore, notAfter) {
  if (!(notBefore >= Date.UTC(1950, 0) && notBefore < notAfter && notAfter < Date.UTC(1e4, 0))) throw new Error(`a certificate cannot be valid from ${notBefore} to ${notAfter}`);
}
function assertIssuer(issuer, publicKey) {
  if (issuer.certificate === "self") {
    if (!publicKeyOf(issuer.key).equals(publicKey)) throw new Error("self-signed with a key that is not its own");
    return;
  }
  let certificate = new X509Certificate(issuer.certificate);
  if (!certificate.ca) throw new Error("the issuer is not a certificate authority");
  if (!certificate.checkPrivateKey(issuer.key)) throw new Error("the key of the issuer is not that of its certificate");
}

// src/pki/names.ts
import { isIPv4 } from "node:net";

// src/pki/unsound.ts
var UnsoundInput = class extends Error {
  name = "UnsoundInput";
};

// src/pki/der.ts
var maxDerBytes = 128 * 1024, tags = {
  boolean: 1,
  integer: 2,
  bitString: 3,
  octetString: 4,
  null: 5,
  oid: 6,
  sequence: 48,
  set: 49
}, MalformedDer = class extends UnsoundInput {
  name = "MalformedDer";
};
function readWhole(bytes, tag) {
  let [element, ...rest] = readSeveral(bytes);
  if (rest.length > 0) throw new MalformedDer("bytes follow the end");
  return expectTag(element, tag);
}
function readSeveral(bytes) {
  if (bytes.length > maxDerBytes)
    throw new MalformedDer(`${bytes.length} bytes are more than the ${maxDerBytes} allowed`);
  return readAll(bytes);
}
function childrenOf(parent) {
  return readAll(parent.content);
}
function expectTag(element, tag) {
  if (element?.tag === tag) return element;
  throw new MalformedDer(`expected tag ${hex(tag)}, found ${element === void 0 ? "the end" : hex(element.tag)}`);
}
function readAll(bytes) {
  let elements = [];
  for (let at = 0; at < bytes.length; ) {
    let tag = bytes[at];
    if ((tag & 31) === 31) throw new MalformedDer("a tag of several bytes");
    let start = at + 1 + lengthBytes(bytes, at + 1), end = start + readLength(bytes, at + 1);
    if (end > bytes.length) throw new MalformedDer("an element is longer than what holds it");
    elements.push({ tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) }), at = end;
  }
  return elements;
}
function lengthBytes(bytes, at) {
  let first = bytes[at];
  if (first === void 0) throw new MalformedDer("the bytes end before a length");
  if (first < 128) return 1;
  let count = first & 127;
  if (count === 0 || count > 3 || at + count >= bytes.length) throw new MalformedDer("a length that is not DER");
  return 1 + count;
}
function readLength(bytes, at) {
  let first = bytes[at];
  if (first < 128) return first;
  let count = first & 127, length = bytes.readUIntBE(at + 1, count);
  if (length < 128 || length < 2 ** (8 * (count - 1))) throw new MalformedDer("a length is not in its shortest form");
  return length;
}
function hex(tag) {
  return `0x${tag.toString(16).padStart(2, "0")}`;
}

// src/pki/tbs.ts
function subjectOf(certificate) {
  let { fields, first } = fieldsOf(certificate);
  return expectTag(fields[first + 4], tags.sequence);
}
function extensionOf(certificate, oid) {
  let wrapped = fieldsOf(certificate).fields.find((field) => field.tag === 163);
  if (wrapped === void 0) return;
  let [list] = childrenOf(wrapped);
  for (let extension of childrenOf(expectTag(list, tags.sequence))) {
    let parts = childrenOf(expectTag(extension, tags.sequence));
    if (expectTag(parts[0], tags.oid).content.equals(oid)) return expectTag(parts.at(-1), tags.octetString).content;
  }
}
function hasOneSignatureAlgorithm(certificate) {
  let { fields, first } = fieldsOf(certificate), outside = childrenOf(readWhole(certificate, tags.sequence))[1];
  return expectTag(fields[first + 1], tags.sequence).whole.equals(expectTag(outside, tags.sequence).whole);
}
function fieldsOf(certificate) {
  let [tbs] = childrenOf(readWhole(certificate, tags.sequence)), fields = childrenOf(expectTag(tbs, tags.sequence));
  return { fields, first: fields[0]?.tag === 160 ? 1 : 0 };
}

// src/pki/names.ts
var maxNames = 256, subjectAltNameId = Buffer.from("551d11", "hex"), dnsTag = 130, ipTag = 135;
function canonicalNames({ dns, ips }) {
  if (dns.length + ips.length > maxNames) throw new Error(`more than ${maxNames} names for one certificate`);
  return { dns: sortedSet(dns.map(canonicalDns)), ips: sortedSet(ips.map(canonicalIp)) };
}
function readNames(certificate) {
  let extension = extensionOf(certificate, subjectAltNameId), names = extension === void 0 ? [] : childrenOf(readWhole(extension, tags.sequence));
  return {
    dns: sortedSet(names.filter(({ tag }) => tag === dnsTag).map(({ content }) => content.toString("latin1"))),
    ips: sortedSet(names.filter(({ tag }) => tag === ipTag).map(({ content }) => addressOf(content)))
  };
}
function sameNames(a, b) {
  return a.dns.join() === b.dns.join() && a.ips.join() === b.ips.join();
}
function canonicalDns(text) {
  let labels = text.toLowerCase().split("."), named = labels[0] === "*" && labels.length > 1 ? labels.slice(1) : labels;
  if (!(text.length <= 253 && named.every(isLabel) && !isDigits(named.at(-1) ?? ""))) throw new Error(`not a DNS name: ${JSON.stringify(text.slice(0, 300))}`);
  return labels.join(".");
}
function isLabel(label) {
  return label.length <= 63 && /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label);
}
function isDigits(label) {
  return /^[0-9]+$/.test(label);
}
function canonicalIp(text) {
  let address = isIPv4(text) ? text : canonicalIpv6(text);
  if (address === void 0) throw new Error(`not an IP address: ${JSON.stringify(text.slice(0, 300))}`);
  return address;
}
function canonicalIpv6(text) {
  return text.length <= 45 && /^[0-9a-fA-F:.]+$/.test(text) ? URL.parse(`http://[${text}]`)?.hostname.slice(1, -1) : void 0;
}
function addressOf(bytes) {
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.length !== 16) throw new MalformedDer(`an address of ${bytes.length} bytes`);
  let groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16));
  return canonicalIp(groups.join(":"));
}
function sortedSet(names) {
  return [...new Set(names)].sort();
}

export {
  generateKey,
  keyToPem,
  keyFromPem,
  publicKeyOf,
  isP256,
  UnsoundInput,
  tags,
  MalformedDer,
  readWhole,
  readSeveral,
  childrenOf,
  expectTag,
  subjectOf,
  hasOneSignatureAlgorithm,
  usageTable,
  assertConsistent,
  canonicalNames,
  readNames,
  sameNames
};
