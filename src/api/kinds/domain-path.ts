/** Validation of domain-prefixed paths such as `example.com/job-controller`, which name controllers. */
import { type FieldError, type FieldPath, invalid } from '../model/field-error.ts'
import { checkDnsSubdomain } from '../model/names.ts'

const pathForm = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

/** Requires a DNS subdomain, a slash and a path. */
export function checkDomainPath(value: string, path: FieldPath): FieldError[] {
  const slash = value.indexOf('/')
  const domain = value.slice(0, slash)
  const rest = value.slice(slash + 1)
  if (slash < 1 || rest === '')
    return [invalid(path, value, 'must be a domain-prefixed path (such as "example.com/foo")')]
  return [
    ...checkDnsSubdomain(domain).map((fault) => invalid(path, domain, fault)),
    ...(pathForm.test(rest)
      ? []
      : [invalid(path, rest, "a path may contain only letters, digits and /-._~%!$&'()*+,;=:")]),
  ]
}
