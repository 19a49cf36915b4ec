/** Terminating namespaces and what each waits for, followed by all others. */
import type { ApiObject } from '../../../../api/model/object.ts'
import { ask } from '../core/access.ts'
import { useSurroundings } from '../core/kinds.ts'
import { useObjects } from '../core/objects.ts'
import { objectAddress } from '../core/route.ts'
import { useAsked, useNow } from '../core/store.ts'
import { shown } from '../core/text.ts'
import { type DeletionStatus, DeletionWaits } from '../parts/deletion.tsx'
import { Failure } from '../parts/failure.tsx'
import { Age, Card, Chip, Loading, Notice, PageHead } from '../parts/shown.tsx'

interface Namespace extends ApiObject {
  status?: { phase?: string }
}

export function NamespacesPage() {
  const { kinds } = useSurroundings()
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
                  {shown(metadata.name, 80)}
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
  const around = useSurroundings()
  const { name = '', resourceVersion, deletionTimestamp } = namespace.metadata
  const tick = Math.floor(useNow(5_000) / 5_000)
  const asked = useAsked(
    () => ask<DeletionStatus>(around, 'deletionexplanations', { resource: 'namespaces', name }),
    [resourceVersion, tick],
  )
  return (
    <Card
      title={shown(name, 100)}
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
      {asked.state === 'done' && <DeletionWaits status={asked.value} />}
      {asked.state === 'failed' && <Failure error={asked.error} />}
    </Card>
  )
}
