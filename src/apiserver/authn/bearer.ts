/**
 * The bearer token of an Authorization header, read as kube-apiserver does: the scheme, one blank, and the token up to
 * the next blank. Undefined when the header has no token in that place, such as `Bearer` alone or with two blanks; that
 * counts as no credentials. An odd token is still a token, and a wrong one.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  const [scheme, token] = (authorization ?? '').trim().split(' ', 2)
  return scheme?.toLowerCase() === 'bearer' && token ? token : undefined
}
