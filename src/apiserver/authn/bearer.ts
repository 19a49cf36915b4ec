/**
 * Returns the bearer token in an Authorization header. As in kube-apiserver, the header consists of the scheme, one
 * space, and the token up to the next space. Returns undefined if there is no token at that position, for example after
 * two spaces. Such a request counts as a request without credentials. A malformed token counts as an invalid token.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  const [scheme, token] = (authorization ?? '').trim().split(' ', 2)
  return scheme?.toLowerCase() === 'bearer' && token ? token : undefined
}

/** Whether the header contains a token that is ignored because of extra spaces before it. */
export function hasExtraSpace(authorization: string | undefined): boolean {
  return authorization !== undefined && /^\s*bearer {2,}\S/i.test(authorization)
}
