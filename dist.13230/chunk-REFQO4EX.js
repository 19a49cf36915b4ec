import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);

// src/model/vendor.ts
var profiles = {
  orch: {
    profile: "orch",
    groupDomain: "orch.io",
    keyDomain: "orch.io",
    namespaceFinalizer: "orch",
    protobufMediaType: "application/vnd.orch.protobuf",
    apiAudience: "https://orch.default.svc",
    extensionPrefix: "x-orch-",
    definitionPrefixes: {
      kinds: "io.orch.api.",
      meta: "io.orch.",
      api: "io.orch.",
      runtime: "io.orch.",
      util: "io.orch.",
      version: "io.orch."
    }
  },
  kubernetes: {
    profile: "kubernetes",
    groupDomain: "k8s.io",
    keyDomain: "kubernetes.io",
    namespaceFinalizer: "kubernetes",
    protobufMediaType: "application/vnd.kubernetes.protobuf",
    apiAudience: "https://kubernetes.default.svc",
    extensionPrefix: "x-kubernetes-",
    definitionPrefixes: {
      kinds: "io.k8s.api.",
      meta: "io.k8s.apimachinery.pkg.apis.",
      api: "io.k8s.apimachinery.pkg.",
      runtime: "io.k8s.apimachinery.pkg.",
      util: "io.k8s.apimachinery.pkg.",
      version: "io.k8s.apimachinery.pkg.",
      apiextensions: "io.k8s.apiextensions-apiserver.pkg.apis.",
      apiregistration: "io.k8s.kube-aggregator.pkg.apis."
    }
  }
}, profileNames = Object.keys(profiles);
function vendorOf(profile) {
  return profiles[profile];
}
var bareGroups = /* @__PURE__ */ new Set(["apps", "autoscaling", "batch", "policy"]);
function groupName(vendor, group) {
  return group === "core" ? "" : group.endsWith(".") ? group.slice(0, -1) : bareGroups.has(group) ? group : `${group}.${vendor.groupDomain}`;
}
function apiVersionOf(vendor, group, version) {
  let name = groupName(vendor, group);
  return name === "" ? version : `${name}/${version}`;
}
function vendorKey(vendor, key, subdomain = "") {
  return `${subdomain}${subdomain && "."}${vendor.keyDomain}/${key}`;
}
function isVendorKey(vendor, key) {
  let domain = `.${key.split("/", 1)[0].toLowerCase()}`;
  return domain.endsWith(`.${vendor.keyDomain}`) || domain.endsWith(`.${vendor.groupDomain}`);
}
function definitionName({ definitionPrefixes }, name) {
  let firstWord = name.slice(0, name.indexOf("."));
  return `${definitionPrefixes[firstWord] ?? definitionPrefixes.kinds}${name}`;
}

// src/base/human-duration.ts
function humanDuration(ms) {
  if (ms < -1e3) return "<invalid>";
  let age = Math.max(ms, 0);
  return age < 2 * 6e4 ? count(age, 1e3, "s") : age < 10 * 6e4 ? count(age, 6e4, "m") + rest(age, 6e4, 1e3, "s") : age < 3 * 36e5 ? count(age, 6e4, "m") : age < 8 * 36e5 ? count(age, 36e5, "h") + rest(age, 36e5, 6e4, "m") : age < 2 * 864e5 ? count(age, 36e5, "h") : age < 8 * 864e5 ? count(age, 864e5, "d") + rest(age, 864e5, 36e5, "h") : age < 2 * 365 * 864e5 ? count(age, 864e5, "d") : age < 8 * 365 * 864e5 ? count(age, 365 * 864e5, "y") + rest(age, 365 * 864e5, 864e5, "d") : count(age, 365 * 864e5, "y");
}
function count(age, unit, name) {
  return `${Math.floor(age / unit)}${name}`;
}
function rest(age, whole, unit, name) {
  let left = Math.floor(age % whole / unit);
  return left === 0 ? "" : `${left}${name}`;
}

export {
  humanDuration,
  profileNames,
  vendorOf,
  groupName,
  apiVersionOf,
  vendorKey,
  isVendorKey,
  definitionName
};
