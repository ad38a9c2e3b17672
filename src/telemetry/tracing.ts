/**
 * The only way to the code that sends traces. Off, which is the default, nothing of it is loaded
 * and nothing is observed.
 */
import {
  tracingSettings,
  type Environment,
  type TracingPorts,
  type Tracing,
} from './tracing-settings.ts'

/** Null when tracing is off. The environment is the process's own: the exporter reads it, too. */
export async function startTracing(env: Environment, ports: TracingPorts): Promise<Tracing | null> {
  const { settings, problem } = tracingSettings(env)
  if (problem !== null) ports.problem_changed(problem)
  if (settings === null) return null
  const { openTracing } = await import('./otel.ts')
  return openTracing(settings, ports)
}
