/**
 * The page for certificate requests. It shows their decoded content and whether they meet the signer's rules, with
 * buttons to approve or deny them.
 */

import { useState } from 'preact/hooks'
import type { ApiObject } from '../../../../api/model/object.ts'
import { profileNames, vendorOf } from '../../../../api/model/vendor.ts'
import { type SignerId, signerVerdicts } from '../../../../api/pki/built-in-signers.ts'
import { isError } from '../../../../base/text/errors.ts'
import { changeObject } from '../../../../client/library/client-browser.ts'
import { type DecodedRequest, decodeRequest } from '../core/certificate-request.ts'
import { type Type, useConsoleContext } from '../core/kinds.ts'
import { useObjects } from '../core/objects.ts'
import { objectAddress } from '../core/route.ts'
import { displayText } from '../core/text.ts'
import { Age, Chip, Loading, Notice, PageHead, type Tone } from '../parts/display.tsx'
import { Failure } from '../parts/failure.tsx'

interface Condition {
  type: string
  status: string
  reason?: string
  message?: string
  lastUpdateTime?: string
}

interface Request extends ApiObject {
  spec?: {
    request?: string
    signerName?: string
    username?: string
    usages?: string[]
    expirationSeconds?: number
    groups?: string[]
  }
  status?: { conditions?: Condition[]; certificate?: string }
}

export function CertificatesPage() {
  const { kinds } = useConsoleContext()
  const type = kinds.builtIn('certificatesigningrequests', 'certificates')
  const { objects, synced, error } = useObjects<Request>(type)
  const sorted = [...objects].sort((a, b) => Number(isDecided(a)) - Number(isDecided(b)) || newer(a, b))
  return (
    <>
      <PageHead title="Certificate requests" />
      {error !== undefined && <Failure error={error} />}
      {!synced && error === undefined && <Loading />}
      {synced && objects.length === 0 && (
        <Notice title="There are no requests">They appear here when somebody asks for a certificate.</Notice>
      )}
      {type !== undefined &&
        sorted.slice(0, 200).map((request) => <RequestCard key={request.metadata.uid} {...{ type, request }} />)}
    </>
  )
}

function newer(a: Request, b: Request): number {
  return (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1
}

function isDecided({ status }: Request): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === 'Approved' || type === 'Denied')
}

function RequestCard({ type, request }: { readonly type: Type; readonly request: Request }) {
  const { spec = {}, metadata } = request
  const decoded = decode(spec.request ?? '')
  const names = isError(decoded)
    ? []
    : Object.entries(decoded.names).flatMap(([kind, each]) =>
        Array.isArray(each) ? each.map((name: string) => `${kind}: ${name}`) : [],
      )
  return (
    <section class="card wide request" aria-label={`Request ${displayText(metadata.name, 100)}`}>
      <header>
        <h2>
          <a href={objectAddress(type, metadata)}>{displayText(metadata.name, 100)}</a>
        </h2>
        <Verdict request={request} />
        <span class="sub">
          by {displayText(spec.username, 100)}, <Age since={metadata.creationTimestamp} /> ago
        </span>
      </header>
      {isError(decoded) ? (
        <Notice tone="bad" title="The request cannot be read">
          {displayText(decoded.message)}
        </Notice>
      ) : (
        <dl class="facts columns">
          <Fact name="Common name" value={decoded.subject.commonNames.join(', ') || 'none'} />
          <Fact name="Organizations" value={decoded.subject.organizations.join(', ') || 'none'} />
          <Fact name="Names" value={names.join(', ') || 'none'} />
          <Fact name="Key" value={decoded.key} />
          <Fact name="Usages" value={(spec.usages ?? []).join(', ')} />
          <Fact name="Signer" value={spec.signerName ?? ''} />
        </dl>
      )}
      {!isError(decoded) && <Rules request={request} decoded={decoded} />}
      {!isDecided(request) && <Decide type={type} request={request} />}
    </section>
  )
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{displayText(value, 300)}</dd>
    </div>
  )
}

function decode(request: string): DecodedRequest | Error {
  try {
    return decodeRequest(request)
  } catch (error) {
    return isError(error) ? error : new Error(String(error))
  }
}

function Verdict({ request: { status } }: { readonly request: Request }) {
  const tones: { readonly [type: string]: Tone } = { Approved: 'good', Denied: 'bad', Failed: 'bad' }
  const conditions = status?.conditions ?? []
  return (
    <>
      {conditions.map(({ type, reason = '', message = '' }) => (
        <Chip key={type} tone={tones[type] ?? 'plain'} title={displayText(`${reason} ${message}`, 500)}>
          {displayText(type, 30)}
        </Chip>
      ))}
      {conditions.length === 0 && <Chip tone="info">Pending</Chip>}
      {status?.certificate && <Chip tone="good">Issued</Chip>}
    </>
  )
}

/** Shows the rules of a built-in signer. */
function Rules({ request: { spec = {} }, decoded }: { readonly request: Request; readonly decoded: DecodedRequest }) {
  const signer = builtIn(spec.signerName ?? '')
  if (signer === undefined)
    return <p class="hint">No built-in signer has this name: whoever runs it has to judge the request.</p>
  return (
    <ul class="plain-list" aria-label="Signer rules">
      {signerVerdicts(signer, decoded, spec.usages ?? []).map(({ rule, faults }) => (
        <li key={rule} class="rule">
          <Chip tone={faults.length === 0 ? 'good' : 'bad'}>{faults.length === 0 ? 'Kept' : 'Broken'}</Chip> {rule}
          {faults.length > 0 && `: ${displayText(faults.join('; '), 500)}`}
        </li>
      ))}
    </ul>
  )
}

function builtIn(name: string): SignerId | undefined {
  for (const { signers } of profileNames.map(vendorOf)) {
    const signerId = (Object.keys(signers) as SignerId[]).find((id) => signers[id] === name)
    if (signerId !== undefined) return signerId
  }
  return undefined
}

function Decide({ type, request }: { readonly type: Type; readonly request: Request }) {
  const { client } = useConsoleContext()
  const [failure, setFailure] = useState<unknown>()
  const decide = async (verdict: 'Approved' | 'Denied') => {
    setFailure(undefined)
    try {
      await changeObject(client, type, {
        name: { name: request.metadata.name ?? '' },
        subresource: 'approval',
        change: (object) => withVerdict(object as Request, verdict),
      })
    } catch (error) {
      setFailure(error)
    }
  }
  return (
    <>
      <div class="toolbar">
        <button type="button" class="primary" onClick={() => void decide('Approved')}>
          Approve
        </button>
        <button type="button" class="danger" onClick={() => void decide('Denied')}>
          Deny
        </button>
      </div>
      {failure !== undefined && <Failure error={failure} />}
    </>
  )
}

function withVerdict(request: Request, verdict: 'Approved' | 'Denied'): Request {
  const condition: Condition = {
    type: verdict,
    status: 'True',
    reason: verdict === 'Approved' ? 'ConsoleApprove' : 'ConsoleDeny',
    message: 'This request was approved or denied in the console',
    lastUpdateTime: new Date().toISOString().replace(/\.\d+/, ''),
  }
  return { ...request, status: { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] } }
}
