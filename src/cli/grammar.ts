/** The parts that every file of the command line's grammar is given. Types only. */
import type { Command } from 'commander'
import type { Context } from './context.ts'

export type Run = (context: Context) => Promise<number> | number

/** What a command does when it is chosen, with the context its flags make. */
export type Action = (command: Command, use: Run) => () => Promise<void>

/** A command below another, with its help. */
export type Add = (parent: Command, name: string, about: string) => Command
