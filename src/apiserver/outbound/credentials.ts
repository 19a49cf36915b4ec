/**
 * How this server proves itself to others: by a client certificate, a token, or a user name and password; and which of
 * these is for whom. A server that nobody configured credentials for gets none.
 */
export interface Credentials {
  /** PEM. */
  readonly certificate?: string | undefined
  readonly key?: string | undefined
  readonly token?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** Of a server to which this one proves nothing. */
export const noCredentials: Credentials = {}

export function headersOf({ token, username, password }: Credentials): { authorization?: string } {
  if (token) return { authorization: `Bearer ${token}` }
  if (!username && !password) return {}
  return { authorization: `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}` }
}

/** The credentials that a file configures, by host. */
export interface ConfiguredCredentials {
  /** By host and port, as `users` of a client config name them: `s.n.svc:8443`, `*.n.svc`, `*`. */
  readonly byName: ReadonlyMap<string, Credentials>
  /** Whose the current context of the file is, if it has one. */
  readonly byDefault?: Credentials | undefined
}

/**
 * The credentials for a host and port: those of its own name, else those of the longest `*.` that ends it, both without
 * the port too where that is 443; else those of `*`, else those of the file's current context.
 */
export function credentialsFor(configured: ConfiguredCredentials, host: string, port: number): Credentials {
  const names = port === 443 ? [`${host}:443`, host] : [`${host}:${port}`]
  for (const name of names.flatMap(withWildcards)) {
    const found = configured.byName.get(name)
    if (found !== undefined) return found
  }
  return configured.byName.get('*') ?? configured.byDefault ?? noCredentials
}

/** `a.b.c`, `*.b.c`, `*.c` */
function withWildcards(name: string): string[] {
  const steps = name.split('.')
  return [name, ...steps.slice(1).map((_, i) => `*.${steps.slice(i + 1).join('.')}`)]
}
