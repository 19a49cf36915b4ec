/** The annotations that change the lifecycle of a simulated pod (docs/operate/nodes.md). */
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

/** Returns the keys of the annotations that control simulated pods. */
export function simulationKeys(vendor: Vendor) {
  const key = (name: string) => vendorKey(vendor, name, 'simulation')
  return {
    /**
     * Key of the annotation that determines whether the containers start. With the value `image-pull-error`, they never
     * start.
     */
    start: key('start'),
    startAfter: key('start-after'),
    /** Key of the annotation that delays the mounting of the pod's volumes. */
    volumesAfter: key('volumes-after'),
    /** Key of the annotation that delays readiness. With the value `never`, the containers run but are not ready. */
    ready: key('ready'),
    readyAfter: key('ready-after'),
    /** Key of the annotation that makes containers exit after a given time. */
    runFor: key('run-for'),
    /** Key of the annotation with the exit code of the containers. */
    exitCode: key('exit-code'),
    /** Key of the annotation with the reason for the exit of the containers, such as `OOMKilled`. */
    exitReason: key('exit-reason'),
    restartAfter: key('restart-after'),
    /**
     * Key of the annotation that controls how a deleted pod ends. With the value `ignore`, the pod runs until its grace
     * period has passed.
     */
    termination: key('termination'),
  } as const
}

export type SimulationKeys = ReturnType<typeof simulationKeys>
