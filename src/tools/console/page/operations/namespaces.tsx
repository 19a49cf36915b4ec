/** Lists the terminating namespaces with the reasons that delay their deletion, followed by all other namespaces. */
import type { ApiObject } from '../../../../api/model/object.ts'
import { ask } from '../core/access.ts'
import { useConsoleContext } from '../core/kinds.ts'
import { useObjects } from '../core/objects.ts'
import { objectAddress } from '../core/route.ts'
import { useAsked, useNow } from '../core/store.ts'
import { displayText } from '../core/text.ts'
import { type DeletionStatus, DeletionWaits } from '../parts/deletion.tsx'
import { Age, Card, Chip, Loading, Notice, PageHead } from '../parts/display.tsx'
import { Failure } from '../parts/failure.tsx'

interface Namespace extends ApiObject {
  status?: { phase?: string }
}

export function NamespacesPage() {
  const { kinds } = useConsoleContext()
  const type = kinds.builtIn('namespaces', '')
  const { objects, synced, error } = useObjects<Namespace>(type)
  const going = objects.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
  const staying = objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return (
    <>
      <PageHead title="Namespaces" />
      {error !== undefined && <Failure error={error} />}
      {!synced && error === undefined && <Loading />}
      {synced && going.length === 0 && <Notice tone="good" title="No namespace is being deleted" />}
      {going.map((namespace) => (
        <Going key={namespace.metadata.uid} namespace={namespace} />
      ))}
      {type !== undefined && staying.length > 0 && (
        <Card title={`${staying.length} in use`} wide>
          <ul class="chip-list">
            {staying.slice(0, 500).map(({ metadata }) => (
              <li key={metadata.uid}>
                <a class="chip plain" href={objectAddress(type, metadata)}>
                  {displayText(metadata.name, 80)}
                </a>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  )
}

function Going({ namespace }: { readonly namespace: Namespace }) {
  const consoleContext = useConsoleContext()
  const { name = '', resourceVersion, deletionTimestamp } = namespace.metadata
  const tick = Math.floor(useNow(5_000) / 5_000)
  const explanation = useAsked(
    () => ask<DeletionStatus>(consoleContext, 'deletionexplanations', { resource: 'namespaces', name }),
    [resourceVersion, tick],
  )
  return (
    <Card
      title={displayText(name, 100)}
      wide
      actions={
        <>
          <Chip tone="warn">Terminating</Chip>
          <span class="sub">
            for <Age since={deletionTimestamp} />
          </span>
        </>
      }
    >
      {explanation.state === 'done' && <DeletionWaits status={explanation.value} />}
      {explanation.state === 'failed' && <Failure error={explanation.error} />}
    </Card>
  )
}
