/**
 * The text of a client config (kubeconfig) for one user of one server, as its administrator: one cluster, one user, one
 * context, with everything it needs inside. Pure; where it is written, and that only its owner may read it (it holds a private
 * key), is left to the callers.
 */
export interface AdminConfig {
  /** The cluster, in the names of everything here: so configs of several servers can be used together. */
  readonly cluster: string
  /** The user, in the names of things here; the administrator where it is left out. */
  readonly user?: string
  /** The address of the server, such as https://127.0.0.1:6443 */
  readonly server: string
  /** PEM of the authority that signed the server's certificate. */
  readonly authority: string
  /** PEM of the client's certificate and key. */
  readonly certificate: string
  readonly key: string
}

/** The text of a kubeconfig with a client certificate. */
export function adminKubeconfig({ cluster, user: name, server, authority, certificate, key }: AdminConfig): string {
  const user = name ?? `${cluster}-admin`
  return `apiVersion: v1
kind: Config
clusters:
- name: ${cluster}
  cluster:
    server: ${quoted(server)}
    certificate-authority-data: ${base64(authority)}
users:
- name: ${user}
  user:
    client-certificate-data: ${base64(certificate)}
    client-key-data: ${base64(key)}
contexts:
- name: ${user}@${cluster}
  context:
    cluster: ${cluster}
    user: ${user}
current-context: ${user}@${cluster}
`
}

// A JSON string is also a YAML one.
function quoted(text: string): string {
  return JSON.stringify(text)
}

function base64(pem: string): string {
  return Buffer.from(pem).toString('base64')
}
