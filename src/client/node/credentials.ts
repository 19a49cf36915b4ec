/** Who a client is to a server, where that may change while it runs: see `exec-credentials.ts` and `oidc-credentials.ts`. */
export interface Credentials {
  /** A bearer token. */
  readonly token?: string
  /** PEM of the client's certificate and its key. Another certificate needs another connection. */
  readonly certificate?: ClientCertificate
}

export interface ClientCertificate {
  readonly certificate: string
  readonly key: string
}

export interface CredentialSource {
  /** What to present now. Asked before every request, so it answers from memory where it can. */
  current(signal: AbortSignal): Promise<Credentials>
  /** The server has refused these with 401: returns others, or undefined where there are none. */
  replace(refused: Credentials, signal: AbortSignal): Promise<Credentials | undefined>
}

/** A source that is loaded when it is first asked: few client configs need one. */
export function loadedLater(load: () => Promise<CredentialSource>): CredentialSource {
  let loading: Promise<CredentialSource> | undefined
  const loaded = () => (loading ??= load())
  return {
    current: async (signal) => await (await loaded()).current(signal),
    replace: async (refused, signal) => await (await loaded()).replace(refused, signal),
  }
}

/** Whether a text can be sent as a bearer token. */
export function isToken(text: string): boolean {
  return /^[!-~]+$/.test(text)
}
