/** Image references such as `registry.example:5000/team/app:v1@sha256:...`. */
const maxLength = 512
const pathPart = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const host = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?$/
const tagForm = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
const digestForm = /^[A-Za-z][A-Za-z0-9+._-]*:[0-9a-fA-F]{32,}$/

/**
 * Returns the tag of an image reference. Returns `latest` if the reference has neither tag nor digest, and '' if it has
 * only a digest or is invalid.
 */
export function tagOf(image: string): string {
  if (image.length > maxLength) return ''
  const [name = '', digest, more] = image.split('@')
  if (more !== undefined || (digest !== undefined && !digestForm.test(digest))) return ''
  const colon = name.lastIndexOf(':')
  const tagged = colon > name.lastIndexOf('/')
  const tag = tagged ? name.slice(colon + 1) : undefined
  if (!isRepository(tagged ? name.slice(0, colon) : name) || (tag !== undefined && !tagForm.test(tag))) return ''
  return tag ?? (digest === undefined ? 'latest' : '')
}

/**
 * Whether the name is a valid repository. The first component is a host if it contains a dot or a colon or is
 * `localhost`. The other components are a path.
 */
function isRepository(name: string): boolean {
  const [first = '', ...rest] = name.split('/')
  const hasHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  return (hasHost ? host.test(first) : pathPart.test(first)) && rest.every((part) => pathPart.test(part))
}
