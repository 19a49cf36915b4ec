/**
 * Approves client certificate requests from node agents, and no other requests. The built-in signer must accept the
 * request, and a SubjectAccessReview must allow the requester to create `certificatesigningrequests/nodeclient`, or
 * `/selfnodeclient` for a certificate in the requester's own name.
 *
 * While the agent of a node is alive, only that agent gets a certificate for the node. A bootstrap token alone is
 * therefore not enough to take over the identity of a working node, and a client with a token for one node cannot get a
 * certificate for another.
 *
 * The verdict is written with the resourceVersion that was checked. A recognized request whose requester lacks
 * permission stays pending and is retried, because permission may be granted later.
 */

import { defined } from '../../api/json/json.ts'
import { tokenNodeExtra } from '../../api/model/bootstrap-token.ts'
import { nodeUserPrefix } from '../../api/model/user.ts'
import { groupName } from '../../api/model/vendor.ts'
import { signerFaults } from '../../api/pki/built-in-signers.ts'
import type { CertificateRequest } from '../../api/pki/certificate-request.ts'
import { MalformedInput } from '../../api/pki/malformed-input.ts'
import { signerRelevantPart } from '../../api/pki/requested-names.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../client/requests/resource-type.ts'
import { isConflict } from '../../client/requests/status-error.ts'
import {
  type CertificateSigningRequest,
  type Condition,
  decodeRequest,
  isPending,
  newCondition,
} from './certificate-requests.ts'
import { ignoreNotFound } from './ignore-not-found.ts'
import { isNodeAlive, type LivenessParts } from './node-liveness.ts'

export interface ApprovingParts extends LivenessParts {
  readonly informer: Informer<CertificateSigningRequest>
}

/**
 * Backoff for requests whose requester lacks permission. The loop notices a newly granted permission within the maximum
 * delay.
 */
const backoff = { firstMs: 500, longestMs: 5 * 60_000 }

export function csrApprovingLoop(parts: ApprovingParts): Loop {
  return {
    name: 'csrapproving',
    sources: [fromInformer(parts.informer)],
    backoff,
    reconcile: async (name, signal) => {
      const request = parts.informer.get({ name })
      return request === undefined ? 'done' : await reconcile(parts, request, signal)
    },
  }
}

async function reconcile(
  parts: ApprovingParts,
  request: CertificateSigningRequest,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { spec = {}, status = {} } = request
  if (spec.signerName !== parts.vendor.signers.nodeClient || !isPending(request) || status.certificate) return 'done'
  const decoded = decodeRequest(request)
  if (decoded instanceof MalformedInput) return 'done'
  if (signerFaults('nodeClient', signerRelevantPart(decoded), spec.usages ?? []).length > 0) return 'done'
  for (const { right, message } of waysFor(request, decoded)) {
    if (!(await mayCreate(parts, request, { right, signal }))) continue
    const denial = await denialOf(parts, request, { node: nodeOfAnother(request, decoded), signal })
    const verdict = denial ?? newCondition('Approved', 'AutoApproved', message)
    return await decide(parts, request, { verdict, signal })
  }
  return 'later'
}

/** Returns the node named in the certificate, or undefined if the requester is that node's own agent. */
function nodeOfAnother({ spec }: CertificateSigningRequest, { subject }: CertificateRequest): string | undefined {
  const [user = ''] = subject.commonNames
  return spec?.username === user ? undefined : user.slice(nodeUserPrefix.length)
}

/** Returns the reason for denying a request that names another node. */
async function denialOf(
  parts: ApprovingParts,
  { spec }: CertificateSigningRequest,
  { node, signal }: { readonly node: string | undefined; readonly signal: AbortSignal },
): Promise<Condition | undefined> {
  if (node === undefined) return undefined
  const nodesOfToken = spec?.extra?.[tokenNodeExtra(parts.vendor)]
  if (nodesOfToken !== undefined && !nodesOfToken.includes(node))
    return newCondition('Denied', 'TokenIsForAnotherNode', `the bootstrap token is not for the node ${node}`)
  return (await isNodeAlive(parts, node, signal)) ? aliveNode(node) : undefined
}

function aliveNode(node: string): Condition {
  const way =
    'join with another name, or delete the Node; the name becomes available when the agent stops sending heartbeats'
  return newCondition('Denied', 'NodeIsAlive', `the node ${node} exists and its agent is alive: ${way}`)
}

/**
 * Returns the permissions that allow the approval, each with its approval message. Any one of these permissions is
 * sufficient.
 */
function waysFor({ spec }: CertificateSigningRequest, { subject }: CertificateRequest) {
  const forItself = { right: 'selfnodeclient', message: 'the node agent renews its own client certificate' }
  const forAny = { right: 'nodeclient', message: 'the requester may request client certificates for node agents' }
  return spec?.username === subject.commonNames[0] ? [forItself, forAny] : [forAny]
}

async function mayCreate(
  { client, vendor }: ApprovingParts,
  { spec = {} }: CertificateSigningRequest,
  { right, signal }: { right: string; signal: AbortSignal },
): Promise<boolean> {
  const { username: user, uid, groups, extra } = spec
  const resourceAttributes = {
    group: groupName(vendor, 'certificates'),
    resource: 'certificatesigningrequests',
    verb: 'create',
    subresource: right,
  }
  const review = await client.create(
    inDomainOf(vendor, kinds.SubjectAccessReview),
    { metadata: {}, spec: defined({ user, uid, groups, extra, resourceAttributes }) },
    { signal },
  )
  return review.status?.allowed === true
}

async function decide(
  { client, vendor }: ApprovingParts,
  request: CertificateSigningRequest,
  { verdict, signal }: { verdict: Condition; signal: AbortSignal },
): Promise<StepOutcome> {
  const conditions = [...(request.status?.conditions ?? []), verdict]
  const next = { ...request, status: { ...request.status, conditions } }
  try {
    await ignoreNotFound(
      client.update(inDomainOf(vendor, kinds.CertificateSigningRequest), next, { subresource: 'approval', signal }),
    )
  } catch (error) {
    // A conflict needs no retry: the other client's change triggers this loop again.
    if (!isConflict(error)) throw error
  }
  return 'done'
}
