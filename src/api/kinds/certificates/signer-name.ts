/**
 * Validation of signer names. A signer name consists of a domain name with at least two labels, a slash and a path, as
 * in `example.com/signer`.
 */
import { shorten } from '../../../base/text/shorten.ts'
import { type FieldError, type FieldPath, invalid, required, tooLong } from '../../model/field-error.ts'
import { checkDnsLabel, checkDnsSubdomain, type NameCheck } from '../../model/names.ts'

const maxDomain = 253
const maxName = maxDomain + 1 + maxDomain + 1 + 63

export function checkSignerName(path: FieldPath, name: string): FieldError[] {
  if (name === '') return [required(path, 'signerName must be provided')]
  const [domain = '', local, ...rest] = name.split('/')
  if (local === undefined || rest.length > 0)
    return [invalid(path, name, "must have the form 'example.com/signer-name'")]
  return [
    ...(domain.length > maxDomain ? [tooLong(path, maxDomain)] : []),
    ...checkLabels(path, domain, checkDnsLabel),
    ...(domain.includes('.') ? [] : [invalid(path, domain, 'must be a domain with at least two labels')]),
    ...checkLabels(path, local, checkDnsSubdomain),
    ...(name.length > maxName ? [tooLong(path, maxName)] : []),
  ]
}

/** Returns the errors in the first invalid label of a domain name. */
function checkLabels(path: FieldPath, text: string, check: NameCheck): FieldError[] {
  for (const label of text.split('.')) {
    const faults = check(label)
    if (faults.length > 0)
      return faults.map((fault) => invalid(path, text, `label ${JSON.stringify(shorten(label, 300))}: ${fault}`))
  }
  return []
}
