/** Reads the subject alternative names of a certificate request, grouped by type. */
import { type CertificateRequest, subjectAltNameId } from './certificate-request.ts'
import { childrenOf, readWhole, tags } from './der.ts'
import type { Subject } from './identity.ts'
import { addressOf } from './names.ts'

export interface RequestedNames {
  readonly dns: readonly string[]
  readonly ips: readonly string[]
  readonly emails: readonly string[]
  readonly uris: readonly string[]
  /** Number of names of unsupported types, such as directory names. */
  readonly others: number
  /** The encoded names of the supported types: a list of GeneralNames in DER. */
  readonly der: readonly Buffer[]
}

const emailTag = 0x81
const dnsTag = 0x82
const uriTag = 0x86
const ipTag = 0x87
const copied = [emailTag, dnsTag, uriTag, ipTag]

/** Returns the subject alternative names of a request as text, by type. */
export function requestedNames({ extensions }: CertificateRequest): RequestedNames {
  const names = extensions
    .filter(({ id }) => id === subjectAltNameId)
    .flatMap(({ value }) => childrenOf(readWhole(value, tags.sequence)))
  const contents = (searchedTag: number) => names.filter(({ tag }) => tag === searchedTag).map(({ content }) => content)
  const texts = (searchedTag: number) => contents(searchedTag).map((content) => content.toString('latin1'))
  return {
    dns: texts(dnsTag),
    emails: texts(emailTag),
    uris: texts(uriTag),
    ips: contents(ipTag).map(addressOf),
    others: names.filter(({ tag }) => !copied.includes(tag)).length,
    der: names.filter(({ tag }) => copied.includes(tag)).map(({ whole }) => whole),
  }
}

/** The parts of a request that the rules of signers check: the subject and the alternative names. */
export interface JudgedRequest {
  readonly subject: Subject
  readonly names: Omit<RequestedNames, 'der'>
}

/** Extracts the subject and the alternative names of a request, for the rules of signers. */
export function signerRelevantPart(request: CertificateRequest): JudgedRequest {
  return { subject: request.subject, names: requestedNames(request) }
}
