// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a declarative Jenkinsfile with Groovy itself, calls each of its blocks, and prints the calls
// as JSON: groovy jenkinsfile.groovy FILE STATUS. `sh` returns STATUS if it is asked to.
import groovy.json.JsonOutput
import org.codehaus.groovy.control.CompilerConfiguration

abstract class Recorder extends Script {
    static calls = []
    static inside = []
    static status = 0

    def methodMissing(String name, arguments) {
        def blocks = arguments.findAll { it instanceof Closure }
        def words = arguments.findAll { !(it instanceof Closure) }
        calls << [inside: inside.collect(), name: name, words: words.collect { plain(it) }]
        inside << ([name] + words.findAll { it instanceof CharSequence }).join(' ')
        blocks.each { it() }
        inside.removeAt(inside.size() - 1)
        name == 'sh' && words && words[0] instanceof Map && words[0].returnStatus ? status : null
    }

    static plain(value) {
        value instanceof Map ? value.collectEntries { [it.key, plain(it.value)] } : value?.toString()
    }
}

def settings = new CompilerConfiguration(scriptBaseClass: 'Recorder')
Recorder.status = args[1] as int
def build = new Expando(result: null)
def names = [env: new Expando(HOME: '/home/ci'), currentBuild: build, scm: 'scm']
def shell = new GroovyShell(this.class.classLoader, new Binding(names), settings)
shell.evaluate(new File(args[0]))
println JsonOutput.toJson([calls: Recorder.calls, result: build.result])
