/**
 * The content of an administrator's kubeconfig. Certificates and keys are inline, so the caller that writes the file
 * must make it readable only by its owner.
 */
export interface AdminConfig {
  /**
   * The name of the cluster. The names of all entries contain this name, so that files for several servers can be
   * merged.
   */
  readonly cluster: string
  /** User name in the file. Defaults to the administrator. */
  readonly user?: string
  /** URL of the server, such as https://127.0.0.1:6443. */
  readonly server: string
  /** CA certificate for verifying the server, in PEM format. */
  readonly authority: string
  /** Client certificate and key in PEM format. */
  readonly certificate: string
  readonly key: string
}

/** Returns a kubeconfig with a client certificate, as text. */
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

// Quotes text as a JSON string, which is valid YAML.
function quoted(text: string): string {
  return JSON.stringify(text)
}

function base64(pem: string): string {
  return Buffer.from(pem).toString('base64')
}
