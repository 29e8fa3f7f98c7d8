import JSON
import System

/// From where a setting has its value; what comes first goes before what comes later.
public enum Origin: String, CaseIterable, Comparable, Sendable {
    case flag, env, file
    case standard = "default"

    public static func < (earlier: Origin, later: Origin) -> Bool {
        earlier.rank < later.rank
    }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// A value as it was chosen.
struct Choice: Hashable {
    let values: [String]
    let origin: Origin
    /// How the operator would find it: `--state`, `HOLDFAST_STATE`, `"state" in /etc/holdfast.json`.
    let place: String
}

/// Everything that was chosen, by flags, in the environment and in a file, and what a command has chosen for
/// where nobody has.
struct SettingSources {
    private let flags: [String: [String]]
    private let environment: [String: String]
    private let standards: [String: [String]]
    private var file: [String: [String]] = [:]
    private var filePath = ""

    init(
        flags: [String: [String]],
        environment: [String: String],
        standards: [String: [String]],
        read: (String) throws(SystemError) -> [UInt8]
    ) throws(SettingFlaw) {
        self.flags = flags
        self.environment = environment
        self.standards = standards
        guard let path = self["config"]?.values.last else { return }
        filePath = path
        do {
            file = try ConfigurationFile(try read(path)).values
        } catch let error as SettingFlaw {
            throw SettingFlaw("\(path): \(error)")
        } catch {
            throw SettingFlaw("The configuration cannot be read: \(error).")
        }
    }

    subscript(name: String) -> Choice? {
        if let values = flags[name] {
            return Choice(values: values, origin: .flag, place: "--\(name)")
        }
        let setting = Setting.all.first { $0.name == name }
        if let variable = setting?.variable, let text = environment[variable], !text.isEmpty {
            let values = setting?.isRepeatable == true ? text.listed : [text]
            return Choice(values: values, origin: .env, place: variable)
        }
        if let values = file[name] {
            return Choice(values: values, origin: .file, place: "\"\(name)\" in \(filePath)")
        }
        return standards[name].map { Choice(values: $0, origin: .standard, place: name) }
    }
}

/// What a configuration file says: a JSON object whose keys are the names of settings.
struct ConfigurationFile {
    let values: [String: [String]]

    init(_ bytes: [UInt8]) throws(SettingFlaw) {
        let document: JSON.Document
        do {
            document = try JSON.Document(bytes)
        } catch {
            throw SettingFlaw(error.description)
        }
        guard let members = document.root.object else {
            throw SettingFlaw("The configuration must be a JSON object.")
        }
        var values: [String: [String]] = [:]
        for member in members {
            let name = member.name.string
            let setting = Setting.all.first { $0.name == name && name != "config" }
            guard let setting else { throw SettingFlaw("There is no setting '\(name)'.") }
            guard values[name] == nil else { throw SettingFlaw("'\(name)' is there twice.") }
            values[name] = try Self.texts(of: member.value, setting)
        }
        self.values = values
    }

    private static func texts(
        of value: JSON.Value,
        _ setting: Setting
    ) throws(SettingFlaw) -> [String] {
        guard setting.isRepeatable, let elements = value.array else {
            return [try text(of: value, setting)]
        }
        var texts: [String] = []
        for element in elements { texts.append(try text(of: element, setting)) }
        return texts
    }

    private static func text(
        of value: JSON.Value,
        _ setting: Setting
    ) throws(SettingFlaw) -> String {
        if let text = value.string { return text }
        if value.int != nil || value.bool != nil {
            return String(decoding: value.raw.bytes, as: UTF8.self)
        }
        throw SettingFlaw("'\(setting.name)' must be a string, a whole number, true or false.")
    }
}

extension String {
    /// Cut at commas and blanks.
    fileprivate var listed: [String] {
        split { $0 == "," || $0 == " " }.map(String.init)
    }
}
