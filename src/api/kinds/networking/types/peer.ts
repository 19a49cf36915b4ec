/** NetworkPolicyPeer: a source or destination of traffic: pods by labels, or a range of addresses. */
import type { Steps } from '../../../../base/concurrency/time-slice.ts'
import { at, child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../../model/field-error.ts'
import { isStrictlyWithin, parseRange } from '../../../model/ip-range.ts'
import { partsPerStep } from '../../../json/large-json.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { labelSelector } from '../../meta/label-selector.ts'

const blockFields = {
  cidr: field(1, s.string(), { zero: 'write', required: true, doc: 'The range, such as `10.0.0.0/8`.' }),
  except: field(2, s.list(s.string()), { doc: 'Ranges within it that are excluded.' }),
}

const ipBlock = s.object(blockFields, { name: 'IPBlock', doc: 'A range of addresses.', check: checkBlock })

const peerFields = {
  podSelector: field(1, labelSelector, {
    doc: 'The pods, by labels: of the namespaces that are selected, else of the same one. An empty one selects all.',
  }),
  namespaceSelector: field(2, labelSelector, { doc: 'The namespaces, by labels. An empty one selects all.' }),
  ipBlock: field(3, ipBlock, { doc: 'A range of addresses. Neither of the others may be set then.' }),
}

export const networkPolicyPeer = s.object(peerFields, {
  name: 'NetworkPolicyPeer',
  doc: 'The source or the destination of traffic.',
  check: checkPeer,
})

function checkPeer(peer: InferFields<typeof peerFields>, path: FieldPath): FieldError[] {
  const isSelected = peer.podSelector !== undefined || peer.namespaceSelector !== undefined
  if (peer.ipBlock === undefined) return isSelected ? [] : [required(path, 'must specify a peer')]
  return isSelected ? [forbidden(path, 'may not specify both ipBlock and another peer')] : []
}

/** Of ranges that cannot be read the first is reported. */
function* checkBlock(
  { cidr = '', except = [] }: InferFields<typeof blockFields>,
  path: FieldPath,
): Steps<FieldError[]> {
  if (cidr === '') return []
  const range = parseRange(cidr)
  if (range === undefined) return [invalid(child(path, 'cidr'), cidr, 'not a valid CIDR')]
  const place = child(path, 'except')
  const faults: FieldError[] = []
  for (const [i, text] of except.entries()) {
    const inner = parseRange(text)
    if (inner === undefined) return [...faults, invalid(at(place, i), text, 'not a valid CIDR')]
    if (!isStrictlyWithin(inner, range)) faults.push(invalid(at(place, i), text, 'must be a strict subset of `cidr`'))
    if (i % partsPerStep === 0) yield
  }
  return faults
}
