# SPDX-License-Identifier: MIT
"""Computes the state system that an XML analysis of Trace Compass makes of a trace, by the same rules.

Those of org.eclipse.tracecompass.tmf.analysis.xml.core 2026, DataDriven*.java: what the file uses of them;
an element, attribute or order that its schema (xmlDefinition.xsd and what that includes) does not have, or
that is not known here, is an error.
"""
import re
import xml.etree.ElementTree as tree

OPERATORS = {"eq": lambda order: order == 0, "ne": lambda order: order != 0, "lt": lambda order: order < 0,
             "le": lambda order: order <= 0, "gt": lambda order: order > 0, "ge": lambda order: order >= 0}
# element: (attributes that it must have, that it may have, its children in order: ? optional, * any, + some)
VALUE = (("type",), ("value", "increment"), "stateAttribute*")
SCHEMA = {
    "tmfxml": ((), (), "(stateProvider|callstack|timeGraphView|xyView)+"),
    "stateProvider": (("id", "version"), (), "head? location* eventHandler+"),
    "head": ((), (), "traceType* analysis* label?"),
    "traceType": (("id",), (), ""), "analysis": (("id",), (), ""), "label": (("value",), (), ""),
    "location": (("id",), (), "stateAttribute*"),
    "eventHandler": (("eventName",), (), "stateChange+"),
    "stateChange": ((), (), "(stateAttribute+ stateValue|if then else?)"),
    "then": ((), (), "stateAttribute+ stateValue"), "else": ((), (), "stateAttribute+ stateValue"),
    "if": ((), (), "condition"),
    "condition": ((), ("operator",), "stateAttribute+ stateValue"),
    "stateAttribute": (("type",), ("value",), "stateAttribute*"),
    "stateValue": VALUE,
    "callstack": (("id",), (), "callstackGroup+ analysis"),
    "callstackGroup": ((), ("name",), "level* thread?"),
    "level": (("path",), (), ""), "thread": ((), ("level", "type"), ""),
    "timeGraphView": (("id",), (), "head? entry*"), "xyView": (("id",), (), "head? entry"),
    "entry": (("path",), ("displayText", "displayType"), "display? name? entry*"),
    "display": (("type",), ("value",), ""), "name": (("type",), ("value",), ""),
}
ATTRIBUTE_TYPES = {"constant", "eventField", "query", "location"}
VALUE_TYPES = {"null", "int", "long", "string", "eventField", "query"}


def check(element):
    """Fails where an element is not as the schema wants it."""
    required, optional, children = SCHEMA[element.tag]
    names = {name for name in element.attrib if not name.startswith("{")}
    assert set(required) <= names <= set(required) | set(optional), (element.tag, element.attrib)
    pattern = re.sub(r"(\w+)", r"(?:<\1>)", children).replace(" ", "")
    found = "".join("<%s>" % child.tag for child in element)
    assert re.fullmatch(pattern, found), (element.tag, children, found[:200])
    if element.tag == "stateAttribute":
        assert element.get("type") in ATTRIBUTE_TYPES, element.attrib
    if element.tag == "stateValue":
        assert element.get("type") in VALUE_TYPES, element.attrib
    for child in element:
        check(child)


def compare(left, right):
    """As DataDrivenComparisonCondition: numbers as numbers, all else by its text."""
    if not (isinstance(left, int) and isinstance(right, int)):
        left, right = str(left), str(right)
    return (left > right) - (left < right)


class StateSystem:
    """Attributes by path; `history` has every change as {path: [(time, value)]}."""

    def __init__(self, path):
        root = tree.parse(path).getroot()
        check(root)
        self.provider = root.find("stateProvider")
        self.locations = {one.get("id"): list(one) for one in self.provider.findall("location")}
        self.handlers = [(re.compile(one.get("eventName").replace("*", ".*")), list(one))
                         for one in self.provider.findall("eventHandler")]
        self.ongoing, self.history = {}, {}

    def path(self, attributes, event):
        """The path that stateAttributes name; None where a part of it is null."""
        found = []
        for one in attributes:
            kind = one.get("type")
            if kind == "location":
                inner = self.path(self.locations[one.get("value")], event)
                if inner is None:
                    return None
                found += inner
                continue
            value = one.get("value")
            if kind == "eventField":
                value = event[value]
            elif kind == "query":
                value = self.query(list(one), event)
            if value is None:
                return None
            found.append(str(value))
        return found

    def query(self, attributes, event):
        path = self.path(attributes, event)
        return None if path is None else self.ongoing.get(tuple(path))

    def value(self, element, event):
        kind, value = element.get("type"), element.get("value")
        if kind in ("int", "long"):
            return int(value)
        if kind == "eventField":
            return event[value]
        if kind == "query":
            return self.query(list(element), event)
        return value if kind == "string" else None

    def change(self, element, time, event):
        if element[0].tag == "if":
            condition = element[0][0]
            order = compare(self.query(list(condition)[:-1], event), self.value(condition[-1], event))
            holds = OPERATORS[condition.get("operator", "eq")](order)
            branch = element.find("then" if holds else "else")
            if branch is not None:
                self.change(branch, time, event)
            return
        path = self.path(list(element)[:-1], event)
        # Trace Compass would write a warning into its log for each sample
        assert path is not None, tree.tostring(element)
        value = self.value(element[-1], event)
        if element[-1].get("increment") == "true" and value is not None:
            value += self.ongoing.get(tuple(path)) or 0
        self.modify(tuple(path), time, value)

    def modify(self, path, time, value):
        """Equal states go on; what a later change of the same time replaces never was."""
        if self.ongoing.get(path) == value:
            return
        self.ongoing[path] = value
        states = self.history.setdefault(path, [])
        if states and states[-1][0] == time:
            states.pop()
        if not states or states[-1][1] != value:
            states.append((time, value))

    def event(self, time, name, fields):
        for pattern, changes in self.handlers:
            if pattern.fullmatch(name):
                for change in changes:
                    self.change(change, time, fields)
