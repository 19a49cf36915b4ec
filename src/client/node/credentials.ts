/**
 * Declares sources of changing credentials, such as plugins and renewable tokens. See `exec-credentials.ts` and
 * `oidc-credentials.ts`.
 */
export interface Credentials {
  /** The bearer token. Undefined if the credentials are only a certificate. */
  readonly token?: string
  /** Client certificate and key in PEM format. A different certificate requires a new connection. */
  readonly certificate?: ClientCertificate
}

export interface ClientCertificate {
  readonly certificate: string
  readonly key: string
}

export interface CredentialSource {
  /**
   * Returns the current credentials. The method is called before every request, so it should use cached credentials if
   * possible.
   */
  current(signal: AbortSignal): Promise<Credentials>
  /**
   * Called when the server has rejected credentials with 401. Returns new credentials, or undefined if there are none.
   */
  replace(refused: Credentials, signal: AbortSignal): Promise<Credentials | undefined>
}

/** Returns a source that loads its implementation on first use, because few kubeconfigs need the implementation. */
export function loadedLater(load: () => Promise<CredentialSource>): CredentialSource {
  let loading: Promise<CredentialSource> | undefined
  const loaded = () => (loading ??= load())
  return {
    current: async (signal) => await (await loaded()).current(signal),
    replace: async (refused, signal) => await (await loaded()).replace(refused, signal),
  }
}

/** Whether a string is a valid bearer token. */
export function isToken(text: string): boolean {
  return /^[!-~]+$/.test(text)
}
