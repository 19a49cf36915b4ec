/** Shows quotas as bars that compare the used amount with the allowed amount. The fullest quota comes first. */
import type { ApiObject } from '../../../../api/model/object.ts'
import { parseQuantity } from '../../../../api/model/quantity.ts'
import { type Type, useConsoleContext } from '../core/kinds.ts'
import { useObjects } from '../core/objects.ts'
import { objectAddress } from '../core/route.ts'
import { displayText } from '../core/text.ts'
import { Loading, Notice, PageHead } from '../parts/display.tsx'
import { Failure } from '../parts/failure.tsx'
import { NamespaceField, useNamespace } from '../parts/namespace-field.tsx'

interface Quota extends ApiObject {
  spec?: { hard?: { [resource: string]: string } }
  status?: { hard?: { [resource: string]: string }; used?: { [resource: string]: string } }
}

interface Bar {
  readonly resource: string
  readonly used: string
  readonly hard: string
  /** Fraction of the quota that is in use. The value 1 means that the quota is full, and higher values are possible. */
  readonly part: number
}

export function QuotasPage() {
  const { kinds } = useConsoleContext()
  const type = kinds.builtIn('resourcequotas', '')
  const namespace = useNamespace()
  const { objects, synced, error } = useObjects<Quota>(type, namespace === '' ? {} : { namespace })
  const quotas = objects
    .map((quota) => ({ quota, bars: barsOf(quota) }))
    .sort((a, b) => fullest(b.bars) - fullest(a.bars))
  return (
    <>
      <PageHead title="Quotas" />
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <NamespaceField />
      </form>
      {error !== undefined && <Failure error={error} />}
      {!synced && error === undefined && <Loading />}
      {synced && objects.length === 0 && (
        <Notice title="There are no quotas">A ResourceQuota bounds what a namespace may hold.</Notice>
      )}
      <div class="cards">
        {type !== undefined &&
          quotas
            .slice(0, 200)
            .map(({ quota, bars }) => <QuotaCard key={quota.metadata.uid} {...{ type, quota, bars }} />)}
      </div>
    </>
  )
}

function QuotaCard({
  type,
  quota,
  bars,
}: {
  readonly type: Type
  readonly quota: Quota
  readonly bars: readonly Bar[]
}) {
  const { namespace = '', name = '' } = quota.metadata
  return (
    <section class="card">
      <header>
        <h2>
          <a href={objectAddress(type, quota.metadata)}>
            {displayText(namespace, 80)} / {displayText(name, 80)}
          </a>
        </h2>
      </header>
      {bars.map(({ resource, used, hard, part }) => (
        <div class="bar-row" key={resource}>
          <div class="bar-label">
            <span>{displayText(resource, 80)}</span>
            <span class="number">
              {displayText(used, 30)} of {displayText(hard, 30)}
            </span>
          </div>
          <svg
            class={`bar ${part >= 1 ? 'full' : part >= 0.8 ? 'near' : ''}`}
            role="img"
            aria-label={`${Math.round(part * 100)} %`}
          >
            <rect width={`${Math.min(100, part * 100)}%`} height="8" rx="4" />
          </svg>
        </div>
      ))}
    </section>
  )
}

function barsOf({ spec, status }: Quota): Bar[] {
  const hard = status?.hard ?? spec?.hard ?? {}
  return Object.entries(hard).map(([resource, limit]) => {
    const used = status?.used?.[resource] ?? '0'
    return { resource, used, hard: limit, part: partOf(used, limit) }
  })
}

function partOf(used: string, hard: string): number {
  const a = parseQuantity(used)
  const b = parseQuantity(hard)
  if (a === undefined || b === undefined) return 0
  if (b.nanos === 0n) return a.nanos > 0n ? 1 : 0
  return Number((a.nanos * 1000n) / b.nanos) / 1000
}

function fullest(bars: readonly Bar[]): number {
  return Math.max(0, ...bars.map(({ part }) => part))
}
