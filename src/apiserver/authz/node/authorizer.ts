/**
 * The Node mode authorizes node agents, the users `system:node:<name>` in the group `system:nodes`. They have the
 * permissions of the role `system:node`, with restrictions: Secrets, ConfigMaps, claims, volumes, attachments and
 * tokens must be needed by pods on the node, and Leases, CSINodes and ResourceSlices must be the node's own. Since
 * Kubernetes 1.32, an agent may read only its own Node and the pods on it. The mode never denies a request that another
 * mode may allow.
 */
import type { Lookup } from '../../../api/model/lookup.ts'
import { nodesGroup, nodeUserPrefix, shownName, type User } from '../../../api/model/user.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import type { Emulation } from '../../../api/versions/availability.ts'
import { isAtLeast } from '../../../api/versions/emulated-version.ts'
import { type Mode, noRules, type ToldRules } from '../access.ts'
import { type Authorizer, allow, type Decision, noOpinion, type ResourceAttributes } from '../authorizer.ts'
import { defaultRules } from '../rbac/defaults/all.ts'
import { allows, ruleOf } from '../rbac/rule.ts'
import { NodeGraph } from './graph.ts'
import { because, type NodeJudge, nodeAccess, podAccess } from './node-and-pod-access.ts'
import { sliceAccess } from './slice-access.ts'

/** Namespace of the Leases that nodes renew as heartbeats. */
const leaseNamespace = 'kube-node-lease'

interface NodeModeParts {
  readonly vendor: Vendor
  readonly emulation: Emulation
  readonly lookup: Lookup
}

/** Returns the Node mode, in which a node agent may read the objects that pods on its node use. */
export function nodeMode({ vendor, emulation, lookup }: NodeModeParts): Mode {
  return {
    authorizer: nodeAuthorizer(vendor, emulation, new NodeGraph(lookup, vendor)),
    rulesOf: (user) => (nodeOf(user) === undefined ? noRules : untold),
  }
}

const untold: ToldRules = {
  rules: [],
  incomplete: true,
  notes: ["a node's permissions depend on its pods and cannot be listed"],
}

function nodeAuthorizer(vendor: Vendor, emulation: Emulation, graph: NodeGraph): Authorizer {
  const rules = defaultRules(vendor, emulation.version, 'system:node').map(ruleOf)
  const judge = judgeOf(vendor, emulation, graph)
  return ({ user, attributes }) => {
    const node = nodeOf(user)
    if (node === undefined) return noOpinion
    if (node === '') return because(`unknown node for user ${JSON.stringify(shownName(user))}`)
    const special = attributes.resource ? judge(node, attributes) : undefined
    if (special !== undefined) return special
    return rules.some((rule) => allows(rule, attributes)) ? allow : noOpinion
  }
}

/** Returns the node of an agent, or undefined for other users. */
function nodeOf({ name, groups }: User): string | undefined {
  return name.startsWith(nodeUserPrefix) && groups.includes(nodesGroup) ? name.slice(nodeUserPrefix.length) : undefined
}

/**
 * Returns a function that finds the access check for a resource. The function returns undefined for resources without
 * per-node restrictions.
 */
function judgeOf(vendor: Vendor, { version, gates }: Emulation, graph: NodeGraph) {
  const judges = new Map<string, NodeJudge>()
  const concerning = (fault: (attributes: ResourceAttributes) => string): NodeJudge => {
    return (node, attributes) => {
      const wrong = fault(attributes)
      if (wrong !== '') return because(wrong)
      const pending = graph.current()
      const answer = () => related(graph, node, attributes)
      return pending === undefined ? answer() : pending.then(answer)
    }
  }
  const add = (group: string, plural: string, judge: NodeJudge) =>
    judges.set(`${groupName(vendor, group)}/${plural}`, judge)
  add('core', 'secrets', concerning(notRead))
  add('core', 'configmaps', concerning(notRead))
  add(
    'core',
    'persistentvolumeclaims',
    concerning((asked) => (asked.subresource === 'status' ? notWritten(asked) : notGot(asked))),
  )
  add('core', 'persistentvolumes', concerning(notGot))
  add('storage', 'volumeattachments', concerning(notGot))
  const readsAccounts = gates.has('KubeletServiceAccountTokenForCredentialProviders')
  add('core', 'serviceaccounts', concerning(readsAccounts ? notTokenOrGot : notToken))
  add('resource', 'resourceclaims', concerning(notGot))
  if (isAtLeast(version, '1.30')) {
    const needsSelector = gates.has('AuthorizeWithSelectors')
    add('resource', 'resourceslices', sliceAccess({ related: concerning(() => ''), needsSelector }))
  }
  add('coordination', 'leases', (node, asked) => own(node, asked, leaseNamespace))
  add('storage', 'csinodes', (node, asked) => own(node, asked, ''))
  if (gates.has('AuthorizeNodeWithSelectors')) {
    add('core', 'nodes', nodeAccess)
    add('core', 'pods', podAccess(concerning(() => '')))
  }
  return (node: string, attributes: ResourceAttributes) =>
    judges.get(`${attributes.group}/${attributes.plural}`)?.(node, attributes)
}

function related(graph: NodeGraph, node: string, { plural, namespace, name }: ResourceAttributes): Decision {
  if (name === '') return because('No Object name found')
  if (graph.concerns(node, plural, { namespace, name })) return allow
  return because(`no relationship found between node '${node}' and this object`)
}

/** Returns the reason why a request is not a plain read of namespaced objects, or '' if the request is such a read. */
function notRead({ verb, subresource, namespace }: ResourceAttributes): string {
  if (!['get', 'list', 'watch'].includes(verb)) return 'can only read resources of this type'
  if (subresource !== '') return 'cannot read subresource'
  return namespace === '' ? 'can only read namespaced object of this type' : ''
}

function notGot({ verb, subresource }: ResourceAttributes): string {
  if (verb !== 'get') return 'can only get individual resources of this type'
  return subresource === '' ? '' : 'cannot get subresource'
}

function notWritten({ verb }: ResourceAttributes): string {
  return verb === 'update' || verb === 'patch' ? '' : 'can only update status'
}

function notToken({ verb, subresource, name }: ResourceAttributes): string {
  const token = verb === 'create' && subresource === 'token' && name !== ''
  return token ? '' : 'can only create tokens for individual service accounts'
}

function notTokenOrGot(asked: ResourceAttributes): string {
  return asked.verb === 'get' ? notGot(asked) : notToken(asked)
}

const ownVerbs = ['get', 'create', 'update', 'patch', 'delete']

/** Restricts a node agent to the object with the name of its node. */
function own(node: string, { verb, plural, subresource, namespace, name }: ResourceAttributes, home: string): Decision {
  if (!ownVerbs.includes(verb)) return because(`can only ${ownVerbs.join(', ')} its own of ${plural}`)
  if (subresource !== '') return because(`cannot use subresources of ${plural}`)
  if (namespace !== home) return because(`can only access ${plural} in the "${home}" system namespace`)
  if (verb !== 'create' && name !== node)
    return because(`can only access the one of ${plural} with the same name as the requesting node`)
  return allow
}
