/** Reads algorithm identifiers, and the bit strings of keys and signatures. */
import { childrenOf, type Element, expectTag, MalformedDer, tags } from './der.ts'

export interface Algorithm {
  /** Object identifier of the algorithm, as its DER content in hexadecimal. */
  readonly id: string
  readonly parameters: Element | undefined
}

/** Reads an AlgorithmIdentifier: an object identifier and at most one parameter. */
export function readAlgorithm(element: Element | undefined): Algorithm {
  const [id, parameters, ...rest] = childrenOf(expectTag(element, tags.sequence))
  if (rest.length > 0) throw new MalformedDer('an algorithm has more than one parameter')
  return { id: expectTag(id, tags.oid).content.toString('hex'), parameters }
}

/** Returns the bytes of a bit string that consists of whole bytes. */
export function readBits(element: Element | undefined): Buffer {
  const { content } = expectTag(element, tags.bitString)
  if (content[0] !== 0) throw new MalformedDer('a bit string does not consist of whole bytes')
  return content.subarray(1)
}
