/** A NetworkPolicyPeer is a source or destination of traffic, specified by label selectors or by an IP range. */
import type { Sliced } from '../../../../base/concurrency/time-slice.ts'
import { partsPerSlice } from '../../../json/large-json.ts'
import { at, child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../../model/field-error.ts'
import { isStrictlyWithin, parseRange } from '../../../model/ip-range.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { isAtLeast } from '../../../versions/emulated-version.ts'
import { labelSelector } from '../../meta/label-selector.ts'

const blockFields = {
  cidr: field(1, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'IP address range in CIDR notation, for example `10.0.0.0/8`.',
  }),
  except: field(2, s.list(s.string()), {
    doc: 'IP address ranges to exclude, in CIDR notation. Each range must be a strict subset of `cidr`.',
  }),
}

const ipBlock = s.object(blockFields, {
  name: 'IPBlock',
  doc: 'An IP address range with optional exceptions.',
  check: checkBlock,
})

const peerFields = {
  podSelector: field(1, labelSelector, {
    doc: "Label selector for pods in the policy's namespace, or in the namespaces that `namespaceSelector` selects. An empty selector selects all pods.",
  }),
  namespaceSelector: field(2, labelSelector, {
    doc: 'Label selector for namespaces. An empty selector selects all namespaces.',
  }),
  ipBlock: field(3, ipBlock, { doc: 'IP address range of the peer. Mutually exclusive with the selectors.' }),
}

export const networkPolicyPeer = s.object(peerFields, {
  name: 'NetworkPolicyPeer',
  doc: 'A source or destination of network traffic.',
  check: checkPeer,
})

function checkPeer(peer: InferFields<typeof peerFields>, path: FieldPath): FieldError[] {
  const isSelected = peer.podSelector !== undefined || peer.namespaceSelector !== undefined
  if (peer.ipBlock === undefined) return isSelected ? [] : [required(path, 'must specify a peer')]
  return isSelected ? [forbidden(path, 'may not specify both ipBlock and another peer')] : []
}

/**
 * Validates an IP range and its exceptions. Before 1.29, the check stops at the first range that cannot be parsed, so
 * at most one invalid range is reported.
 */
function* checkBlock(
  { cidr = '', except = [] }: InferFields<typeof blockFields>,
  path: FieldPath,
  context: RuleContext,
): Sliced<FieldError[]> {
  if (cidr === '') return []
  const range = parseRange(cidr)
  if (range === undefined) return [invalid(child(path, 'cidr'), cidr, 'not a valid CIDR')]
  const place = child(path, 'except')
  const faults: FieldError[] = []
  for (const [i, text] of except.entries()) {
    const inner = parseRange(text)
    if (inner === undefined) {
      faults.push(invalid(at(place, i), text, 'not a valid CIDR'))
      if (!isAtLeast(emulationOf(context).version, '1.29')) return faults
    } else if (!isStrictlyWithin(inner, range))
      faults.push(invalid(at(place, i), text, 'must be a strict subset of `cidr`'))
    if (i % partsPerSlice === 0) yield
  }
  return faults
}
